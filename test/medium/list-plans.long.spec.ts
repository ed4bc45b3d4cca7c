import { describeListPlans } from '../support/list-plans.js';

describeListPlans(process.env.NIGHTLY ? 1_000_000 : 300_000);
