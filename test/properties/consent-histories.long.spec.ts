import { describeHistories } from '../support/consent-histories-suite.js';

describeHistories(process.env.NIGHTLY ? 2000 : 250);
