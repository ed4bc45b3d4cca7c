import type { FastifyRequest } from 'fastify';
import { RateLimitsService } from '#access/rate-limits/rate-limits.service.js';
import { waitingTime } from '#access/rate-limits/waiting-time.js';
import type { Answer, Http, HttpOptions } from './http.js';
import type { TestInstance } from './test-service.js';

/** The statuses of that many responses, in order. */
export async function statusesOf(times: number, send: () => Promise<{ status: number }>): Promise<number[]> {
  const statuses: number[] = [];
  for (let n = 0; n < times; n++) statuses.push((await send()).status);
  return statuses;
}

/** How many responses had each status, for requests that were all sent at once. */
export async function tally(answers: Promise<{ status: number }>[]): Promise<Record<number, number>> {
  const counts: Record<number, number> = {};
  for (const { status } of await Promise.all(answers)) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

/** `X-RateLimit-Limit` and `X-RateLimit-Remaining`, null where the response has none. */
export const limitHeaders = ({ headers }: { headers: Headers }): (number | null)[] =>
  ['x-ratelimit-limit', 'x-ratelimit-remaining'].map((name) => {
    const value = headers.get(name);
    return value === null ? null : Number(value);
  });

export const retryAfterOf = ({ headers }: { headers: Headers }): number =>
  Number(headers.get('retry-after') ?? Number.NaN);

/**
 * Expects a 429 problem that says when to retry and mentions no user, as for requests of which only the client or address is
 * known.
 */
export function expectPlainRefusal(answer: Answer, baseUrl: string, windowSeconds: number): void {
  expect(answer.status).toBe(429);
  expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json(;|$)/);
  expect(Object.keys(answer.json as object).sort()).toEqual(['detail', 'status', 'title', 'type']);
  expect(answer.json).toMatchObject({
    type: `${baseUrl}/v2/problems/rate-limit-exceeded/`,
    status: 429,
    title: 'Too many requests',
  });
  expectRetryAfter(answer, windowSeconds);
}

/** Expects `Retry-After` in whole seconds, within the window, and the same number in the text. */
export function expectRetryAfter(answer: Answer, windowSeconds: number): void {
  const seconds = answer.headers.get('retry-after') ?? '';
  expect(seconds).toMatch(/^[1-9]\d*$/);
  expect(Number(seconds)).toBeLessThanOrEqual(windowSeconds);
  expect(answer.text).toContain(`again in ${waitingTime(Number(seconds))}.`);
}

/** Sends requests as if from this address, for a service that trusts 127.0.0.1 as its proxy. */
export const from =
  (http: Http, address: string) =>
  (path: string, options: HttpOptions = {}): Promise<Answer> =>
    http.send(path, { ...options, headers: { 'x-forwarded-for': address, ...options.headers } });

/** As if so many requests had come from this address that count for it, which rate-limit-addresses.spec.ts really sends. */
export async function countFor(
  { app }: Pick<TestInstance, 'app'>,
  address: string,
  times: number,
): Promise<void> {
  const limits = app.get(RateLimitsService);
  for (let n = 0; n < times; n++) await limits.countAddress({ ip: address } as FastifyRequest);
}

let networks = 0;

/** An address that no other test has used. */
export const newAddress = (): string => `198.51.${Math.floor(++networks / 250)}.${networks % 250}`;
