import DataLoader from 'dataloader';
import { AsyncLocalStorage } from 'node:async_hooks';

// A statement that takes longer than that is waiting for something, and holds up nobody else's.
const PATIENCE_MS = 20;
// So many at once, however long the first of them take.
const AT_ONCE = 4;
const MOST = 200;

/**
 * Makes one statement of many calls that wait together. A call on its own runs at once; under load, what comes while a
 * statement is under way goes along with the next, which follows after it or 20 ms later, whichever comes first. `run` gets 1
 * to 200 keys and gives a result or an Error for each, in their order; what it throws is thrown to all of them.
 */
export function gathered<K, V>(
  run: (keys: readonly K[]) => Promise<readonly (V | Error)[]>,
): (key: K) => Promise<V> {
  let underWay = 0;
  let awaited = 0;
  const waiting: (() => void)[] = [];
  const next = () => {
    if (waiting.length === 0 || awaited > 0 || underWay >= AT_ONCE) return;
    underWay++;
    awaited++;
    // What else arrives in this turn of the event loop comes along.
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
        // In the course of the first of its calls, not of whichever ended before it.
        waiting.push(AsyncLocalStorage.bind(dispatch));
        next();
      },
    },
  );
  return (key) => loader.load(key);
}
