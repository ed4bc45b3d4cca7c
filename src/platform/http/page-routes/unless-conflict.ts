import { Problem } from '../problems/problem.js';

/** Does what a form asks, or answers what makes it impossible now (409). Any other error is thrown. */
export async function unlessConflict<T, R>(
  work: () => Promise<T>,
  refused: (detail: string) => R | Promise<R>,
): Promise<T | R> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Problem) || error.status !== 409) throw error;
    return refused(error.detail);
  }
}
