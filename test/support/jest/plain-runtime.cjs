/** Takes the place of Jest's module system: tests are loaded by Node.js itself (plain-runner.mjs). */
module.exports = class PlainRuntime {
  teardown() {}
  getSourceMaps() {
    return null;
  }
  /** Counted by code that `COVERAGE=1` compiled. */
  getAllCoverageInfoCopy() {
    return globalThis.__coverage__;
  }
};
