// Contract §14: exits with 0 within 10 s of SIGTERM.
const DEADLINE_MS = 9_500;

/** Stops in an orderly way at the first SIGTERM or SIGINT; further signals change nothing. */
export function stopOnSignals(stop: () => Promise<void>): void {
  let stopping = false;
  const onSignal = () => {
    if (stopping) return;
    stopping = true;
    setTimeout(() => process.exit(0), DEADLINE_MS).unref();
    stop().then(
      () => process.exit(0),
      (error: unknown) => {
        process.stderr.write(`Stopping failed: ${error instanceof Error ? error.message : String(error)}\n`);
        process.exit(1);
      },
    );
  };
  // npm passes the signal on to a group that already had it: the handler stays, so the second one is harmless.
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
}
