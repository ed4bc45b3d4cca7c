import { describeConcurrency } from '../support/concurrency-suite.js';

// A change before all requests, and one among them. All rounds are in concurrency.long.spec.ts.
describeConcurrency([1, 4]);
