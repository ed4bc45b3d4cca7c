// How imports are found: those of `.js` in the `.ts` first. Otherwise each is looked for twice, in vain the first time, which takes a third
// of the time of the check. Those of a wing (`#platform/…`) are found in its sources, also where nothing is compiled. What is read of it is
// `resolve` alone.
module.exports = {
  resolve: { alias: { '#*': `${__dirname}/src/*` }, extensionAlias: { '.js': ['.ts', '.tsx', '.js'] } },
};
