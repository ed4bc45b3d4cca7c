import { describeHistories } from '../support/consent-histories-suite.js';

describeHistories(15);
