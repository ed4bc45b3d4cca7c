/** The promise did not settle in time. */
export class TimeoutError extends Error {
  constructor(milliseconds: number) {
    super(`no answer within ${milliseconds} ms`);
  }
}

/** The result of a promise, or a {@link TimeoutError} if it takes longer; a later result is ignored. */
export function withTimeout<T>(milliseconds: number, answer: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = () => reject(new TimeoutError(milliseconds));
    // One more turn of the event loop, in case the answer has arrived and this process was too busy to read it.
    const timer = setTimeout(() => setImmediate(late), milliseconds);
    const done = () => clearTimeout(timer);
    answer.then(resolve, reject).then(done, done);
  });
}
