import { Problem } from '#platform/http/problems/problem.js';

/** Returns the result, or the problem that was thrown; throws any other error. */
export function orProblem<T>(work: () => T): T | Problem {
  try {
    return work();
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
}

/** The same for asynchronous work. */
export const laterOrProblem = <T>(work: () => Promise<T>): Promise<T | Problem> =>
  work().catch((error: unknown) => {
    if (error instanceof Problem) return error;
    throw error;
  });

/** Whether the problem is the caller's mistake. */
export const isRefusal = (problem: Problem): boolean => problem.status >= 400 && problem.status < 500;
