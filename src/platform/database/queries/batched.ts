import DataLoader from 'dataloader';
import { AsyncResource } from 'node:async_hooks';
import { refuseInTransaction } from './transaction-around.js';

// A statement that takes longer is waiting for something, so others no longer wait for it.
const PATIENCE_MS = 20;
// The maximum number of concurrent statements.
const AT_ONCE = 4;
const MOST = 200;

/**
 * Combines concurrent calls into one statement. A single call runs immediately. Under load, calls made while a statement is
 * running share the next one, which starts after it or 20 ms later, whichever comes first. `run` gets 1 to 200 keys and returns a
 * result or an Error for each, in the same order; if it throws, all calls fail with that error. A call inside of a transaction throws.
 */
export function batched<K, V>(
  run: (keys: readonly K[]) => Promise<readonly (V | Error)[]>,
): (key: K) => Promise<V> {
  let underWay = 0;
  let awaited = 0;
  const waiting: (() => void)[] = [];
  const next = () => {
    if (waiting.length === 0 || awaited > 0 || underWay >= AT_ONCE) return;
    underWay++;
    awaited++;
    // Calls of the same turn of the event loop are included.
    setImmediate(waiting.shift()!);
  };
  const goOn = () => {
    awaited--;
    next();
  };
  const loader = new DataLoader<K, V>(
    async (keys) => {
      let isSlow = false;
      const patience = setTimeout(() => {
        isSlow = true;
        goOn();
      }, PATIENCE_MS);
      try {
        return await run(keys);
      } finally {
        clearTimeout(patience);
        underWay--;
        if (isSlow) next();
        else goOn();
      }
    },
    {
      cache: false,
      maxBatchSize: MOST,
      batchScheduleFn: (dispatch) => {
        // Runs in the async context of the batch's first call, not of the call that ended before it. `AsyncLocalStorage.bind` takes 25 µs.
        const context = new AsyncResource('Batch');
        waiting.push(() => context.runInAsyncScope(dispatch));
        next();
      },
    },
  );
  return (key) => {
    refuseInTransaction('A statement for several callers');
    return loader.load(key);
  };
}
