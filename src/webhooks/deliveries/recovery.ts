/** A recovery: everything that failed between two times, resent; with its progress. */
export interface Recovery {
  id: string;
  endpointId: string;
  from: Date;
  to: Date;
  total: number;
  pending: number;
  delivered: number;
  failed: number;
  cancelled: number;
  createdAt: Date;
}
