import { Histogram } from 'prom-client';

/** Every request by its route's pattern, never by its URL. */
export const requestDuration = new Histogram({
  name: 'http_request_duration_seconds',
  help: 'Duration of requests by method, route and status',
  labelNames: ['method', 'route', 'status'] as const,
  buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5],
});
