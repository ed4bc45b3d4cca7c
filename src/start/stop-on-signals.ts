// Contract §14: exits with 0 within 10 s of SIGTERM.
const DEADLINE_MS = 9_500;

const SIGNALS = ['SIGTERM', 'SIGINT'] as const;
const exit = () => process.exit(0);

/**
 * Exits with 0 on SIGTERM or SIGINT until `stopOnSignals` is called: there is nothing to finish yet, and the first process of a
 * container ignores signals without a handler.
 */
export function exitOnSignals(): void {
  for (const signal of SIGNALS) process.on(signal, exit);
}

/** Shuts down gracefully on the first SIGTERM or SIGINT, which is passed to `stop`; further signals are ignored. */
export function stopOnSignals(stop: (signal: NodeJS.Signals) => Promise<void>): void {
  let stopping = false;
  const onSignal = (signal: NodeJS.Signals) => {
    if (stopping) return;
    stopping = true;
    setTimeout(() => process.exit(0), DEADLINE_MS).unref();
    stop(signal).then(
      () => process.exit(0),
      (error: unknown) => {
        const why = error instanceof Error ? error.message : String(error);
        process.stderr.write(`Stopping failed: ${why}\n`, () => process.exit(1));
      },
    );
  };
  // npm forwards the signal to a group that already received it. The handler stays installed, so the second signal is harmless.
  for (const signal of SIGNALS) process.on(signal, onSignal).off(signal, exit);
}
