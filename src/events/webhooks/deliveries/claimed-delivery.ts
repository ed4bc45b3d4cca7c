import type { FailureKind, HeaderLine } from '../http/http-outcome.js';
import type { ClientCredentials } from '../receiver-tokens/client-credentials.js';
import type { SignatureVersion } from '../signing/sign-delivery.js';
import type { CancelReason, DeliveryState } from './delivery.js';

/** A delivery leased by this instance. */
export interface ClaimedDelivery {
  id: string;
  leaseId: string;
  endpointId: string;
  clientId: string;
  url: string;
  eventType: string;
  eventVersion: number;
  payload: string;
  /** The number of retries of the schedule that are used up. */
  retries: number;
  isTest: boolean;
  /** Whether its client is in a sandbox. */
  isSandbox: boolean;
  signatureVersions: SignatureVersion[];
  /** At an ordered endpoint: how many events of its user directly before it the endpoint did not get; otherwise null. */
  sequenceGap: number | null;
  /** At an endpoint with `batch`: which of those that were claimed with it go in its request; otherwise null. */
  batch: PlaceInBatch | null;
  /** The secret that signs, and the one before while it is valid. */
  sealedSecret: Buffer;
  sealedPreviousSecret: Buffer | null;
  /** The endpoint's own headers. */
  sealedHeaders: Buffer | null;
  /** Where its token comes from, and the secret that gets it; null for a receiver that is not behind OAuth. */
  authentication: ClientCredentials | null;
  sealedClientSecret: Buffer | null;
  /** When it was claimed: by the database's clock, and by this process's monotonic clock in milliseconds. */
  claimedAt: Date;
  claimedAtSteady: number;
  /** Set if it must not be sent because something that it depends on has ended. */
  cancelReason: CancelReason | null;
}

/** In the batch with this key. */
interface PlaceInBatch {
  key: string;
  eventId: string;
  /** That of the event in the feed: compared as a text. */
  place: string;
  /** At an ordered endpoint: the same for the events of one user. */
  line: string | null;
}

/** The result of a claim, and the next state of the delivery. */
export interface FinishedClaim {
  id: string;
  leaseId: string;
  state: DeliveryState;
  cancelReason?: CancelReason;
  /** For a pending delivery: seconds until the next attempt. */
  waitSeconds?: number;
  /** Omitted if there was no attempt, or one that does not count. */
  attempt?: {
    attemptedAt: Date;
    durationMs: number;
    status?: number;
    failure?: FailureKind;
    detail?: string;
    responseHeaders?: HeaderLine[];
    responseStart?: string;
    signature: string;
    sequenceGap?: number;
    /** The `webhook-id` of a batch. */
    batchId?: string;
    /** Whether another one stands for the request in the numbers of the endpoint. */
    isCounted?: false;
    url?: string;
    ownHeaders?: string[];
  };
}
