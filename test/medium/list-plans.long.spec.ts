import { describeListPlans } from '../support/list-plans.js';

describeListPlans(1_000_000);
