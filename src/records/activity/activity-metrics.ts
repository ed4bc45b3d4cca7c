import { Counter } from 'prom-client';
import { CREDENTIALS_REFUSALS, type ActivityKind } from './activity.js';

const issued = new Counter({
  name: 'oauth_tokens_issued_total',
  help: 'Access tokens issued by grant type',
  labelNames: ['grant_type'] as const,
});
const unauthenticated = new Counter({
  name: 'oauth_client_authentication_failures_total',
  help: 'Clients that could not authenticate, by reason',
  labelNames: ['reason'] as const,
});
const bearerRefused = new Counter({
  name: 'bearer_refusals_total',
  help: 'Bearer tokens refused by reason',
  labelNames: ['reason'] as const,
});
const signIns = new Counter({
  name: 'sign_ins_total',
  help: 'Attempts to log in by result; slowed: not checked, because too many failed before',
  labelNames: ['result'] as const,
});

type Child = { inc(): void };

const isOfCredentials = (detail: string): boolean => CREDENTIALS_REFUSALS.some((each) => each === detail);

/** The counter that each kind of event increments; the rate limiter itself counts requests near or over a limit. */
const CHILD_OF: Record<ActivityKind, ((detail: string) => Child | undefined) | undefined> = {
  token_issued: (detail) => issued.labels(detail),
  // The endpoints count their error codes themselves.
  token_refused: (detail) => (isOfCredentials(detail) ? unauthenticated.labels(detail) : undefined),
  bearer_refused: (detail) => bearerRefused.labels(detail),
  sign_in: () => signIns.labels('succeeded'),
  sign_in_refused: (detail) => signIns.labels(detail === 'too_many' ? 'slowed' : 'failed'),
  rate_limited: undefined,
  rate_limit_near: undefined,
  request: undefined,
};

/** Looked up once per kind and detail. Both come from fixed lists, so there are few. */
const children = new Map<string, Child | undefined>();

/** Increments the metric for this kind of event. */
export function countInMetrics(kind: ActivityKind, detail: string): void {
  const key = `${kind} ${detail}`;
  let child = children.get(key);
  if (child === undefined && !children.has(key)) {
    child = CHILD_OF[kind]?.(detail);
    children.set(key, child);
  }
  child?.inc();
}

// Initialized at start: a counter that appears with its first event hides that event from a rate.
for (const result of ['succeeded', 'failed', 'slowed']) signIns.inc({ result }, 0);
for (const grant_type of ['authorization_code', 'client_credentials', 'refresh_token']) {
  issued.inc({ grant_type }, 0);
}
