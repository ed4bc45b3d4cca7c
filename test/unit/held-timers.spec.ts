import { endFile } from '../support/between-files.js';
import { HeldTimers } from '../support/held-timers.js';

const MS = 123_456;
const setOne = () => setTimeout(() => undefined, MS).unref();

it('Timers are held until the end of the file, not in the next one that the same process runs', async () => {
  const held = HeldTimers.hold(MS);
  const one = setOne();
  expect(held.count).toBe(1);
  await endFile();
  const other = setOne();
  expect(held.count).toBe(0);
  for (const each of [one, other]) clearTimeout(each);
});

it('Those of a file that holds them always are held in all files', async () => {
  const held = HeldTimers.holdAlways(MS, MS, '');
  await endFile();
  const one = setOne();
  expect(held.count).toBe(1);
  held.release();
  clearTimeout(one);
});
