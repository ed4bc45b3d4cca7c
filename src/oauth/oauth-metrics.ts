import { Counter } from 'prom-client';

/** What the OAuth endpoints refuse, by the route's pattern and the error code of RFC 6749. */
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

/** Introspections by what they said. */
export const introspected = {
  active: introspections.labels('active'),
  inactive: introspections.labels('inactive'),
};
