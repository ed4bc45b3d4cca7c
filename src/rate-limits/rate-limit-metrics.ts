import { Counter, Gauge } from 'prom-client';

/** 1 while the counters of several instances are shared, 0 while each counts for itself because Redis is away. */
export const sharedStoreGauge = new Gauge({
  name: 'rate_limit_store_shared',
  help: '1 while rate-limit counters are shared over Redis, 0 while this instance counts for itself',
});

/** Decisions by what was counted and what came of it. */
export const decisionCounter = new Counter({
  name: 'rate_limit_decisions_total',
  help: 'Rate-limit decisions by kind of key and result',
  labelNames: ['kind', 'result'] as const,
});
