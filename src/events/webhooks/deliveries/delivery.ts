import type { FailureKind, HeaderLine } from '../http/http-outcome.js';

export const DELIVERY_STATES = ['pending', 'delivered', 'failed', 'cancelled'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** Why a delivery was cancelled: something it depends on was gone when it was due. */
export type CancelReason =
  | 'consent_withdrawn'
  | 'scope_missing'
  | 'endpoint_disabled'
  | 'endpoint_deleted'
  | 'client_disabled';

/** The delivery of one event to one endpoint. */
export interface Delivery {
  id: string;
  eventId: string;
  eventType: string;
  eventVersion: number;
  endpointId: string;
  endpointUrl: string;
  endpointState: 'enabled' | 'disabled' | 'deleted';
  clientId: string;
  state: DeliveryState;
  cancelReason: CancelReason | null;
  /** Number of attempts made. */
  attempts: number;
  /** The next attempt of a pending delivery; null while it waits for another one. */
  nextAttemptAt: Date | null;
  /** Whether it waits until the delivery of an earlier event of its user has ended, because its endpoint is ordered. */
  isBehind: boolean;
  createdAt: Date;
  finishedAt: Date | null;
  isTest: boolean;
  /** The status of the last finished attempt, or why it got no response. */
  lastStatus: number | null;
  lastFailure: FailureKind | null;
  /** Where it went; null if nothing was sent. */
  lastUrl: string | null;
  lastAttemptAt: Date | null;
}

/** A finished attempt. */
export interface Attempt {
  number: number;
  attemptedAt: Date;
  durationMs: number;
  status: number | null;
  failure: FailureKind | null;
  /** What happened, in a sentence; of a response only why its body is not shown. */
  detail: string | null;
  /** The start of the response body, as text. */
  responseStart: string | null;
  /** The first headers of the response; null if there was none, or they were not kept. */
  responseHeaders: HeaderLine[] | null;
  /** The `webhook-signature` that was sent. */
  signature: string;
  /** The `webhook-sequence-gap` that was sent; null without it. */
  sequenceGap: number | null;
  /** What was sent with it; null if it was sent alone. */
  batch: AttemptedBatch | null;
  /** Where it was sent; null if nothing was, because the secret or the headers of the endpoint could not be decrypted. */
  url: string | null;
  /** The names of the endpoint's own headers that were sent. */
  ownHeaders: string[] | null;
}

/** A request with several events. */
export interface AttemptedBatch {
  /** Its `webhook-id`. */
  id: string;
  /** In the order of the request, this one among them; as far as they are kept. */
  events: BatchedEvent[];
}

export interface BatchedEvent {
  deliveryId: string;
  eventType: string;
  eventVersion: number;
  sequenceGap: number | null;
  state: DeliveryState;
}

/** Why the payload of a delivery is not shown: its client may not see it, or its user was erased. */
export type PayloadHidden = 'not_consented' | 'erased';

/** A delivery with its payload and all attempts. */
export interface DeliveryDetail extends Delivery {
  /** The body of every request; null if it is not shown. */
  payload: string | null;
  payloadHidden: PayloadHidden | null;
  /** Null for a test, and if the user was erased. */
  userId: string | null;
  attemptList: Attempt[];
}
