/**
 * Imports point one way (CONTRIBUTING.md, "Wings and modules"): each wing of `src` may use itself and those before it, and no module may use
 * another module's repository. test/unit/architecture.spec.ts finds circles between the modules of a wing.
 */
const WINGS = ['platform', 'records', 'access', 'events', 'entrypoints', 'features', 'start'];

const wingsInTheirOrder = WINGS.slice(0, -1).map((wing, index) => ({
  name: `${wing}-imports-no-later-wing`,
  severity: 'error',
  from: { path: `^src/${wing}/` },
  to: { path: `^src/(${WINGS.slice(index + 1).join('|')})/` },
}));

module.exports = {
  forbidden: [
    ...wingsInTheirOrder,
    {
      name: 'repositories-stay-in-their-module',
      severity: 'error',
      from: { path: '^src/([^/]+/[^/]+)' },
      to: {
        path: '\\.repository\\.ts$',
        pathNot: '^src/$1/',
      },
    },
    {
      name: 'features-can-be-taken-out',
      severity: 'error',
      // Nothing but the lists of features imports one, not even another feature.
      from: { path: '^src/([^/]+)/([^/]+)', pathNot: '^src/start/(features|feature-commands)\\.ts$' },
      to: { path: '^src/features/', pathNot: '^src/$1/$2/' },
    },
    { name: 'no-circles', severity: 'error', from: { path: '^src/' }, to: { circular: true } },
    {
      name: 'no-orphans',
      severity: 'error',
      // What browsers load is imported by nothing.
      from: { orphan: true, path: '^src/', pathNot: '\\.d\\.ts$|^src/platform/web/assets/' },
      to: {},
    },
    {
      name: 'the-demonstration-is-loaded-by-the-start-alone',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/start/start-service\\.ts$' },
      to: { path: '^demo/' },
    },
    {
      name: 'tests-stay-outside',
      severity: 'error',
      from: { path: '^(src|demo|migrations)/' },
      to: { path: '^test/' },
    },
    {
      name: 'packages-know-nothing-of-the-service',
      severity: 'error',
      from: { path: '^packages/([^/]+)/src/' },
      to: { path: '^(src|demo|migrations|test|packages)/', pathNot: '^packages/$1/' },
    },
    {
      name: 'only-declared-packages',
      severity: 'error',
      from: { path: '^(src|demo|migrations)/' },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'] },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^src/platform/web/assets/vendor/' },
    webpackConfig: { fileName: '.dependency-cruiser.resolve.cjs' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: { extensions: ['.ts', '.tsx', '.js', '.mjs', '.json'] },
  },
};
