import type { FailureKind } from '../http/http-outcome.js';

export const DELIVERY_STATES = ['pending', 'delivered', 'failed', 'cancelled'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** Why nothing is sent any more: what an attempt rests on was gone when its time came. */
export type CancelReason =
  'consent_withdrawn' | 'scope_missing' | 'endpoint_disabled' | 'endpoint_deleted' | 'client_disabled';

/** One event on its way to one endpoint. */
export interface Delivery {
  id: string;
  eventId: string;
  eventType: string;
  endpointId: string;
  endpointUrl: string;
  endpointState: 'enabled' | 'disabled' | 'deleted';
  clientId: string;
  state: DeliveryState;
  cancelReason: CancelReason | null;
  /** Attempts made. */
  attempts: number;
  /** When a pending one is tried next. */
  nextAttemptAt: Date | null;
  createdAt: Date;
  finishedAt: Date | null;
  isTest: boolean;
  /** Of the last attempt that ended: its status, or why there was none. */
  lastStatus: number | null;
  lastFailure: FailureKind | null;
  lastAttemptAt: Date | null;
}

/** One attempt that ended. */
export interface Attempt {
  number: number;
  attemptedAt: Date;
  durationMs: number;
  status: number | null;
  failure: FailureKind | null;
  /** What happened, in a sentence; absent where there was an answer. */
  detail: string | null;
  /** The start of the answer's body, as text. */
  responseStart: string | null;
  /** The `webhook-signature` that was sent. */
  signature: string;
}

/** A delivery with what was sent and all that came of it. */
export interface DeliveryDetail extends Delivery {
  /** The body of every request. */
  payload: string;
  userId: string | null;
  attemptList: Attempt[];
}
