/** What was resent: everything that failed, what matched a filter, what was chosen, or what an endpoint missed while disabled. */
export type RecoveryKind = 'failed' | 'matching' | 'selected' | 'missed';

/** A recovery: deliveries between two times, resent; with its progress. */
export interface Recovery {
  id: string;
  kind: RecoveryKind;
  /** Null if they may be of several endpoints. */
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
