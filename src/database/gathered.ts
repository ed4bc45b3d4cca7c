import DataLoader from 'dataloader';
import { AsyncLocalStorage } from 'node:async_hooks';

// One batch is under way while the next is on its way back; more at once would only be smaller.
const AT_ONCE = 2;
const MOST = 200;

/**
 * Makes one statement of many calls that wait together. A call on its own runs at once; under load, what comes while two
 * statements are under way goes along with the next. `run` gets 1 to 200 keys and gives a result or an Error for each, in
 * their order; what it throws is thrown to all of them.
 */
export function gathered<K, V>(
  run: (keys: readonly K[]) => Promise<readonly (V | Error)[]>,
): (key: K) => Promise<V> {
  let underWay = 0;
  const waiting: (() => void)[] = [];
  const next = () => {
    const dispatch = waiting.shift();
    if (!dispatch) return;
    underWay++;
    // What else arrives in this turn of the event loop comes along.
    setImmediate(dispatch);
  };
  const loader = new DataLoader<K, V>(
    async (keys) => {
      try {
        return await run(keys);
      } finally {
        underWay--;
        next();
      }
    },
    {
      cache: false,
      maxBatchSize: MOST,
      batchScheduleFn: (dispatch) => {
        // In the course of the first of its calls, not of whichever ended before it.
        waiting.push(AsyncLocalStorage.bind(dispatch));
        if (underWay < AT_ONCE) next();
      },
    },
  );
  return (key) => loader.load(key);
}
