import { Counter, Gauge, register } from 'prom-client';

/**
 * With Redis configured: 1 while the instances share their counters, 0 while each counts on its own because Redis is unavailable.
 */
export function sharedStoreGauge(): Gauge {
  const name = 'rate_limit_store_shared';
  const known = register.getSingleMetric(name);
  if (known) return known as Gauge;
  return new Gauge({
    name,
    help: '1 while rate-limit counters are shared over Redis, 0 while this instance counts on its own',
  });
}

/** Decisions by kind of key and result. */
const decisionCounter = new Counter({
  name: 'rate_limit_decisions_total',
  help: 'Rate-limit decisions by kind of key and result',
  labelNames: ['kind', 'result'] as const,
});

const counters = new Map<string, { inc(): void }>();

/** Counts a decision for a kind of key. */
export function countDecision(kind: string, isAllowed: boolean): void {
  const result = isAllowed ? 'allowed' : 'refused';
  const key = `${kind} ${result}`;
  let counter = counters.get(key);
  if (!counter) counters.set(key, (counter = decisionCounter.labels({ kind, result })));
  counter.inc();
}
