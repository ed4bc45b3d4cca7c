// For a service in a process of its own (`heldTimers` of SpawnedService): timers with the lengths listed in HELD_TIMERS,
// comma-separated and in milliseconds, fire only at SIGUSR2: at each signal the shortest ones that are held. Whatever ends without
// that signal did not need the limit, however long it took. `100:with-timeout` means only the timers of 100 ms that a module of
// that name sets; `90-100` those of a length between the two.
const wanted = (process.env.HELD_TIMERS ?? '').split(',').filter(Boolean).map(read);
// As in test-service.ts: on a busy machine this limit would also refuse requests that a test does not mean to refuse.
const never = ['3000:pg-pool/index'].map(read);
const NEVER_MS = 2 ** 31 - 1;
const held = new Map();
const { setTimeout, clearTimeout } = globalThis;
const isIn = (list, ms) =>
  list.some(
    ({ least, most, by }) => ms >= least && ms <= most && (!by || new Error().stack.includes(`/${by}.`)),
  );

function read(text) {
  const [lengths, by] = text.split(':');
  const [least, most = least] = lengths.split('-').map(Number);
  return { least, most, by };
}

globalThis.setTimeout = Object.assign((callback, ms, ...args) => {
  const isNever = isIn(never, ms);
  if (!isNever && !isIn(wanted, ms)) return setTimeout(callback, ms, ...args);
  const timer = setTimeout(() => undefined, NEVER_MS);
  if (!isNever) held.set(timer, { ms, goOff: () => callback(...args) });
  return timer;
}, setTimeout);
globalThis.clearTimeout = (timer) => {
  held.delete(timer);
  clearTimeout(timer);
};
process.on('SIGUSR2', () => {
  const shortest = Math.min(...[...held.values()].map(({ ms }) => ms));
  for (const [timer, { ms, goOff }] of [...held]) {
    if (ms > shortest) continue;
    globalThis.clearTimeout(timer);
    goOff();
  }
});
