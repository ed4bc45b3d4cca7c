/** There was no answer in time. */
export class NoAnswerError extends Error {
  constructor(milliseconds: number) {
    super(`no answer within ${milliseconds} ms`);
  }
}

/** The answer, or a {@link NoAnswerError} if it takes longer; a later result is ignored. */
export function answerWithin<T>(milliseconds: number, answer: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = () => reject(new NoAnswerError(milliseconds));
    // One more turn of the event loop, in case the answer has arrived and this process was too busy to read it.
    const timer = setTimeout(() => setImmediate(late), milliseconds);
    const done = () => clearTimeout(timer);
    answer.then(resolve, reject).then(done, done);
  });
}
