/** Somebody did not answer in time. */
export class NoAnswerError extends Error {
  constructor(milliseconds: number) {
    super(`no answer within ${milliseconds} ms`);
  }
}

/** The answer, or a {@link NoAnswerError} when it takes longer; what comes of it later is nobody's concern. */
export function answerWithin<T>(milliseconds: number, answer: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = () => reject(new NoAnswerError(milliseconds));
    // One turn more for an answer that is there already and only this process was too busy to read.
    const timer = setTimeout(() => setImmediate(late), milliseconds);
    const done = () => clearTimeout(timer);
    answer.then(resolve, reject).then(done, done);
  });
}
