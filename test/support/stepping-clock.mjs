// Loaded with --import: the process's clock is off by the first number of seconds in CLOCK_OFFSETS, and steps to the next at
// every SIGUSR2, which it reports on stdout. Elapsed time (timers, performance.now) is not affected.
const offsets = process.env.CLOCK_OFFSETS.split(',').map((seconds) => Number(seconds) * 1000);
const Real = Date;
let offset = offsets.shift();

globalThis.Date = class Date extends Real {
  constructor(...given) {
    if (given.length > 0) super(...given);
    else super(Date.now());
  }

  static now() {
    return Real.now() + offset;
  }
};

process.on('SIGUSR2', () => {
  offset = offsets.shift() ?? 0;
  process.stdout.write(`The clock is off by ${offset / 1000} s\n`);
});
