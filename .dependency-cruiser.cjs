/**
 * Imports point one way (CONTRIBUTING.md, "Modules and layers"): each module may use those of lower layers, never one of
 * its own or a higher layer, and never another module's repository.
 */
const LAYERS = [
  ['secrets'],
  ['config'],
  ['language'],
  ['telemetry'],
  ['database'],
  ['web'],
  ['http'],
  ['audit'],
  ['brand'],
  ['activity'],
  ['requests'],
  ['mail'],
  ['notifications'],
  ['users'],
  ['scopes'],
  ['clients'],
  ['consents'],
  ['tokens'],
  ['sandbox-faults'],
  ['rate-limits'],
  ['disclosures'],
  ['webhooks'],
  ['sandbox', 'partners'],
  ['identity-providers'],
  ['oauth', 'webhook-portal', 'partner-api', 'account', 'admin', 'operations', 'start'],
  ['api-docs'],
  ['sign-in'],
  ['cli'],
];

const upward = LAYERS.flatMap((layer, index) => {
  const above = LAYERS.slice(index + 1).flat();
  const beside = (name) => layer.filter((other) => other !== name);
  return layer.map((name) => ({
    name: `${name}-imports-downwards`,
    severity: 'error',
    from: { path: `^src/${name}/` },
    to: { path: `^src/(${[...above, ...beside(name)].join('|')})/` },
  }));
});

module.exports = {
  forbidden: [
    ...upward,
    {
      name: 'repositories-stay-in-their-module',
      severity: 'error',
      from: { path: '^src/([^/]+)/' },
      to: {
        path: '^src/[^/]+/.*\\.repository\\.ts$',
        pathNot: '^src/$1/',
      },
    },
    { name: 'no-circles', severity: 'error', from: { path: '^src/' }, to: { circular: true } },
    {
      name: 'no-orphans',
      severity: 'error',
      // What browsers load is imported by nothing.
      from: { orphan: true, path: '^src/', pathNot: '\\.d\\.ts$|^src/web/assets/' },
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
    exclude: { path: '^src/web/assets/vendor/' },
    webpackConfig: { fileName: '.dependency-cruiser.resolve.cjs' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: { extensions: ['.ts', '.tsx', '.js', '.mjs', '.json'] },
  },
};
