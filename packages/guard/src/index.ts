export { AccessGuard, guarded, type GuardedRequest, type Needs } from './access-guard.js';
export type { ReportStatistics } from './disclosure-reports.js';
export type { Access } from './introspection.js';
export type { GuardStatistics } from './introspections.js';
export type { DpopOptions, GuardOptions } from './options.js';
export { AccessRefusal } from './refusal.js';
export type { ProofReplays } from './replays.js';
