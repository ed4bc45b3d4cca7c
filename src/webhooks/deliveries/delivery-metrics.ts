import { Counter, Gauge, Histogram } from 'prom-client';

/** Attempts by what came of them. */
export const attemptCounter = new Counter({
  name: 'webhook_attempts_total',
  help: 'Attempts to deliver by result',
  labelNames: ['result'] as const,
});

/** Deliveries that no attempt is to come for any more. */
export const finishedCounter = new Counter({
  name: 'webhook_deliveries_finished_total',
  help: 'Deliveries that came to their end, by state',
  labelNames: ['state'] as const,
});

/** How long receivers take. */
export const attemptDuration = new Histogram({
  name: 'webhook_attempt_duration_seconds',
  help: 'Duration of attempts to deliver',
  buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15],
});

/** Attempts under way in this instance. */
export const deliveriesInHand = new Gauge({
  name: 'webhook_deliveries_in_hand',
  help: 'Deliveries that this instance holds at the moment',
});
