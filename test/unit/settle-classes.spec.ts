import { execFileSync } from 'node:child_process';
import path from 'node:path';

const SETTLE = path.resolve(import.meta.dirname, '../../src/start/settle-classes.js');

/** Whether V8 keeps the members of a response by their places, not in a dictionary, if collections come between the first ones. */
function keepsPlaces(before: string): boolean {
  const program = `
    import { IncomingMessage, ServerResponse } from 'node:http';
    const response = () => new ServerResponse(new IncomingMessage());
    ${before}
    for (let n = 0; n < 8; n++) {
      response();
      // V8 keeps what describes an object for two collections after its last use.
      for (let m = 0; m < 4; m++) gc();
    }
    console.log(%HasFastProperties(response()));`;
  const flags = ['--expose-gc', '--allow-natives-syntax', '--input-type=module'];
  return JSON.parse(execFileSync(process.execPath, [...flags, '--eval', program], { encoding: 'utf8' }));
}

describe('The first objects of the classes of a request', () => {
  it('decide for all that follow, unless they are made at once', () => {
    const settled = `const { settleClasses } = await import('${SETTLE}'); settleClasses();`;
    expect([keepsPlaces(''), keepsPlaces(settled)]).toEqual([false, true]);
  });
});
