import vm from 'node:vm';
import { TestEnvironment } from 'jest-environment-node';

/**
 * What this worker has compiled, by file. Each test file loads the same 1,500 modules into a context of its own, and compiling them again
 * takes half of the time of that; a script runs in any context.
 */
const compiled = new Map();
const { compileFunction } = vm;

// Jest compiles each module with this function. Its other options concern `import()`, which is compiled to `require` (jest.config.cjs).
vm.compileFunction = (source, parameters, options) => {
  const { filename, parsingContext } = options;
  if (!parsingContext || source.startsWith('#!')) return compileFunction(source, parameters, options);
  let script = compiled.get(filename);
  if (script?.source !== source) {
    script = { source, whole: new vm.Script(`(function(${parameters}){${source}\n})`, { filename }) };
    compiled.set(filename, script);
  }
  return script.whole.runInContext(parsingContext);
};

export default TestEnvironment;
