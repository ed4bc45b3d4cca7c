/** What was resent: all failures, matches of a filter, chosen deliveries, or what an endpoint missed while disabled. */
export type RecoveryKind = 'failed' | 'matching' | 'selected' | 'missed';

/** A recovery: deliveries between two times, resent; with its progress. */
export interface Recovery {
  id: string;
  kind: RecoveryKind;
  /** Null if there may be several endpoints. */
  endpointId: string | null;
  from: Date;
  to: Date;
  total: number;
  pending: number;
  delivered: number;
  failed: number;
  cancelled: number;
  createdAt: Date;
}
