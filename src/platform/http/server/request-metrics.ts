import { Counter, Histogram } from 'prom-client';

/** Every request by its route pattern, never by its URL. */
const requestDuration = new Histogram({
  name: 'http_request_duration_seconds',
  help: 'Duration of requests by method, route and status',
  labelNames: ['method', 'route', 'status'] as const,
  buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5],
});

/** Requests that failed because a partner requested a fault in the sandbox (contract §19); not failures of the service. */
const faults = new Counter({
  name: 'sandbox_faults_total',
  help: 'Requests that the sandbox made fail on request, by kind',
  labelNames: ['kind'] as const,
});

/** Counts a request that was answered with a requested fault. */
export const countFault = (kind: string): void => faults.inc({ kind });

// Bounded by the number of routes and statuses, because all labels come from the code.
const observers = new Map<string, { observe(seconds: number): void }>();

/** Records the duration of a finished request. */
export function observeRequest(method: string, route: string, status: number, seconds: number): void {
  const key = `${method} ${route} ${status}`;
  let observer = observers.get(key);
  if (!observer) observers.set(key, (observer = requestDuration.labels({ method, route, status })));
  observer.observe(seconds);
}
