import { Counter } from 'prom-client';

/** Errors of the OAuth endpoints, by route pattern and RFC 6749 error code. */
export const refusalCounter = new Counter({
  name: 'oauth_refusals_total',
  help: 'Refusals of the OAuth endpoints by endpoint and error code',
  labelNames: ['endpoint', 'error'] as const,
});

const introspections = new Counter({
  name: 'oauth_introspections_total',
  help: 'Introspections by result',
  labelNames: ['result'] as const,
});

/** Introspections by result. */
export const introspected = {
  active: introspections.labels('active'),
  inactive: introspections.labels('inactive'),
};
