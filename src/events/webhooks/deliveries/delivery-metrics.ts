import { Counter, Gauge, Histogram } from 'prom-client';

/** Attempts by result. */
export const attemptCounter = new Counter({
  name: 'webhook_attempts_total',
  help: 'Delivery attempts by result',
  labelNames: ['result'] as const,
});

/** Deliveries that have no more attempts. */
export const finishedCounter = new Counter({
  name: 'webhook_deliveries_finished_total',
  help: 'Finished deliveries by state',
  labelNames: ['state'] as const,
});

/** The response times of receivers. */
export const attemptDuration = new Histogram({
  name: 'webhook_attempt_duration_seconds',
  help: 'Duration of delivery attempts',
  buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15],
});

/** Attempts that are running in this instance. */
export const deliveriesInHand = new Gauge({
  name: 'webhook_deliveries_in_hand',
  help: 'Deliveries that this instance is currently handling',
});

/** The current limit of running attempts. */
export const deliveriesInHandLimit = new Gauge({
  name: 'webhook_deliveries_in_hand_limit',
  help: 'How many quick deliveries this instance handles at a time at present: fewer while its event loop turns late',
});
