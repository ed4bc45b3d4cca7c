import { describeListPlans } from '../support/list-plans.js';

describeListPlans(60_000);
