// How imports are found: those of `.js` in the `.ts` first. Otherwise each is looked for twice, in vain the first time, which takes a third
// of the time of the check. What is read of it is `resolve` alone.
module.exports = { resolve: { extensionAlias: { '.js': ['.ts', '.tsx', '.js'] } } };
