import { describeConcurrency } from '../support/concurrency-suite.js';

// A change before all requests, and one among them. All rounds, with more requests, are in concurrency.long.spec.ts.
describeConcurrency([1, 4], 20);
