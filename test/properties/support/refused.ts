import { Problem } from '../../../src/http/problem.js';

/** What it gave, or the problem that it refused with; anything else that it throws goes on. */
export function orProblem<T>(work: () => T): T | Problem {
  try {
    return work();
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
}

/** The same for what answers later. */
export const laterOrProblem = <T>(work: () => Promise<T>): Promise<T | Problem> =>
  work().catch((error: unknown) => {
    if (error instanceof Problem) return error;
    throw error;
  });

/** Whether it is the caller's mistake. */
export const isRefusal = (problem: Problem): boolean => problem.status >= 400 && problem.status < 500;
