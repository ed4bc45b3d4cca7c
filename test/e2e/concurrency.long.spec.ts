import { describeConcurrency } from '../support/concurrency-suite.js';

describeConcurrency([1, 2, 3, 4, 5], 50);
