/** No sandbox: tests have the globals of the process that runs them. */
export default class PlainEnvironment {
  global = {};
  async setup() {}
  async teardown() {}
  getVmContext() {
    return null;
  }
}
