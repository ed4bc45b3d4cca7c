// For a service in a process of its own (`heldTimers` of SpawnedService): timers with the lengths listed in HELD_TIMERS,
// comma-separated and in milliseconds, fire only at SIGUSR2. Whatever ends without that signal did not need the limit, however
// long it took. `100:with-timeout` means only the timers of 100 ms that a module of that name sets.
const wanted = (process.env.HELD_TIMERS ?? '').split(',').map((each) => each.split(':'));
const NEVER_MS = 2 ** 31 - 1;
const held = new Map();
const { setTimeout, clearTimeout } = globalThis;
const isHeld = (ms) =>
  wanted.some(([length, by]) => Number(length) === ms && (!by || new Error().stack.includes(`/${by}.`)));

globalThis.setTimeout = Object.assign((callback, ms, ...args) => {
  if (!isHeld(ms)) return setTimeout(callback, ms, ...args);
  const timer = setTimeout(() => undefined, NEVER_MS);
  held.set(timer, () => callback(...args));
  return timer;
}, setTimeout);
globalThis.clearTimeout = (timer) => {
  held.delete(timer);
  clearTimeout(timer);
};
process.on('SIGUSR2', () => {
  for (const [timer, goOff] of [...held]) {
    globalThis.clearTimeout(timer);
    goOff();
  }
});
