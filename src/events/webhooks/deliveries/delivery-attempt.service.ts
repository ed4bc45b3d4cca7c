import { Injectable } from '@nestjs/common';
import type { KeyObject } from 'node:crypto';
import { Settings } from '#platform/config/settings.js';
import { messageOf, refusedIn, type Message } from '../batches/batch-request.js';
import { EndpointSecrets } from '../endpoints/endpoint-secrets.service.js';
import { GuardedHttpClient, USER_AGENT } from '../http/guarded-http-client.js';
import type { HttpOutcome } from '../http/http-outcome.js';
import { signDelivery, type SignatureVersion } from '../signing/sign-delivery.js';
import { ReceiverCredentials } from '../receiver-tokens/receiver-credentials.service.js';
import { ReceiverTokens } from '../receiver-tokens/receiver-tokens.service.js';
import { WebhookKeys } from '../signing/webhook-keys.service.js';
import type { ClaimedDelivery, FinishedClaim } from './claimed-delivery.js';
import { waitBeforeRetry } from './retry-schedule.js';

const GONE = 410;
const MULTI_STATUS = 207;

/** The result of a claim; `isGone` if the receiver responded that the endpoint no longer exists. */
export interface AttemptResult {
  finished: FinishedClaim;
  isSuccess: boolean;
  isGone: boolean;
}

/** The `webhook-timestamp` of an attempt. */
export const secondsOf = (attemptedAt: Date): number => Math.floor(attemptedAt.getTime() / 1000);

/** The headers of a request, in reading order (contract §10). */
export const requestHeaders = (
  { id, eventType, eventVersion, sequenceGap }: Omit<Message, 'body'>,
  timestamp: number,
  signature: string,
): Record<string, string> => {
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    'user-agent': USER_AGENT,
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signature,
    'webhook-event-type': eventType,
    'webhook-event-version': String(eventVersion),
  };
  if (sequenceGap) headers['webhook-sequence-gap'] = String(sequenceGap);
  return headers;
};

/** One request, for one delivery or a batch: signed, sent and evaluated (contract §10, §22). */
@Injectable()
export class DeliveryAttemptService {
  constructor(
    private readonly http: GuardedHttpClient,
    private readonly secrets: EndpointSecrets,
    private readonly webhookKeys: WebhookKeys,
    private readonly credentials: ReceiverCredentials,
    private readonly receiverTokens: ReceiverTokens,
    private readonly settings: Settings,
  ) {}

  /** The result of each claim of the request. Never throws because of a receiver. An attempt aborted by `signal` does not count. */
  async make(claims: readonly ClaimedDelivery[], signal: AbortSignal): Promise<AttemptResult[]> {
    const claim = claims[0]!;
    const { endpointId, cancelReason } = claim;
    if (cancelReason) return withoutAttempt(claims, { state: 'cancelled', cancelReason });
    // By the database's clock: receivers reject a timestamp that is minutes off, and an instance's own clock may be.
    const attemptedAt = new Date(claim.claimedAt.getTime() + performance.now() - claim.claimedAtSteady);
    const keys = await this.keysOf(claim);
    const timestamp = secondsOf(attemptedAt);
    const message = messageOf(claims);
    const signature = signDelivery(keys.v1, { ...message, timestamp }, keys.v1a);
    const ownHeaders = this.secrets.openHeaders(endpointId, claim.sealedHeaders);
    const headers = requestHeaders(message, timestamp, signature);
    const clientSecret = this.credentials.open(endpointId, claim);
    const unsendable = whyUnsendable(claim, keys, ownHeaders, clientSecret);
    const outcome =
      unsendable ??
      (await this.send(claim, message.body, Object.assign(headers, ownHeaders), signal, clientSecret));
    if (outcome.kind === 'aborted') return withoutAttempt(claims, { state: 'pending', waitSeconds: 0 });
    const isGone = outcome.kind === 'response' && outcome.status === GONE;
    const results = outcomesOf(claims, outcome);
    // One stands for the request: one that arrived, if any did.
    const counted = Math.max(results.findIndex(isReceived), 0);
    const jitter = Math.random();
    return claims.map((each, n) => {
      const isSuccess = isReceived(results[n]!);
      const answer = answerOf(outcome, results[n]!);
      const attempt: FinishedClaim['attempt'] = {
        attemptedAt,
        durationMs: outcome.durationMs,
        status: answer.status,
        failure: answer.failure,
        detail: answer.detail,
        responseHeaders: answer.responseHeaders,
        responseStart: answer.responseStart,
        signature,
        sequenceGap: each.sequenceGap || undefined,
        batchId: each.batch ? message.id : undefined,
        isCounted: n === counted ? undefined : false,
        url: unsendable ? undefined : claim.url,
        ownHeaders: unsendable ? undefined : namesOf(claim, ownHeaders),
      };
      const state = this.stateAfter(each, outcome, isSuccess, isGone, jitter);
      return { isSuccess, isGone, finished: { attempt, id: each.id, leaseId: each.leaseId, ...state } };
    });
  }

  /** With a token of its own, if the receiver is behind OAuth. */
  private send(
    claim: ClaimedDelivery,
    body: string,
    headers: Record<string, string>,
    signal: AbortSignal,
    clientSecret: string | null | undefined,
  ): Promise<HttpOutcome> {
    const { url, isSandbox, authentication, sealedClientSecret } = claim;
    if (!authentication || !sealedClientSecret || !clientSecret)
      return this.http.post(url, headers, body, signal, { isSandbox });
    return this.receiverTokens.send(
      { ...claim, authentication, sealedClientSecret, clientSecret },
      signal,
      (more, timeoutMs) =>
        this.http.post(url, { ...headers, ...more }, body, signal, { isSandbox, timeoutMs }),
    );
  }

  /** Of the versions that the endpoint wants. */
  private async keysOf(claim: ClaimedDelivery): Promise<KeysOf> {
    const { endpointId, clientId, sealedSecret, sealedPreviousSecret, signatureVersions } = claim;
    const secrets = [sealedSecret, sealedPreviousSecret];
    return {
      v1: signatureVersions.includes('v1') ? this.secrets.signingKeys(endpointId, secrets) : [],
      v1a: signatureVersions.includes('v1a') ? await this.webhookKeys.signing(clientId) : [],
    };
  }

  private stateAfter(
    { isTest, retries }: ClaimedDelivery,
    outcome: HttpOutcome,
    isSuccess: boolean,
    isGone: boolean,
    jitter: number,
  ): Pick<FinishedClaim, 'state' | 'waitSeconds'> {
    if (isSuccess) return { state: 'delivered' };
    // A test has only one attempt, because someone is waiting for the response.
    if (isGone || isTest) return { state: 'failed' };
    const retryAfterMs = outcome.kind === 'response' ? outcome.retryAfterMs : undefined;
    const schedule = this.settings.webhookRetrySchedule;
    // What was sent together is sent again together.
    const waitSeconds = waitBeforeRetry(schedule, retries, retryAfterMs, () => jitter);
    return waitSeconds === undefined ? { state: 'failed' } : { state: 'pending', waitSeconds };
  }
}

type KeysOf = Record<SignatureVersion, readonly KeyObject[]>;

/** The names of the headers that the endpoint adds. */
const namesOf = ({ authentication }: ClaimedDelivery, ownHeaders: object = {}): string[] => [
  ...Object.keys(ownHeaders),
  ...(authentication ? ['authorization'] : []),
];

/** Why the request cannot be sent: the key that sealed the secrets or headers is no longer configured. */
function whyUnsendable(
  { signatureVersions }: ClaimedDelivery,
  keys: KeysOf,
  ownHeaders: object | undefined,
  clientSecret: string | null | undefined,
): HttpOutcome | undefined {
  const missing = signatureVersions.find((version) => keys[version].length === 0);
  if (missing)
    return failureBeforeSending(
      `The request could not be signed: the ${missing === 'v1' ? 'secret of the endpoint' : 'signing key of the client'} must be rotated.`,
    );
  if (!ownHeaders)
    return failureBeforeSending(
      'The headers of the endpoint can no longer be read: they must be entered again.',
    );
  return clientSecret === undefined
    ? failureBeforeSending(
        'The client secret for the token endpoint can no longer be read: it must be entered again.',
      )
    : undefined;
}

const failureBeforeSending = (detail: string): HttpOutcome => ({
  kind: 'failure',
  failure: 'http',
  detail,
  durationMs: 0,
});

const withoutAttempt = (
  claims: readonly ClaimedDelivery[],
  rest: Omit<FinishedClaim, 'id' | 'leaseId'>,
): AttemptResult[] =>
  claims.map(({ id, leaseId }) => ({ finished: { id, leaseId, ...rest }, isSuccess: false, isGone: false }));

/** Whether a delivery was received; if the answer to its batch says that it was not, why. */
type Received = { isReceived: boolean; refusal?: string };
const isReceived = (each: Received): boolean => each.isReceived;

/** What the outcome of a request says of each delivery. */
function outcomesOf(claims: readonly ClaimedDelivery[], outcome: HttpOutcome): Received[] {
  if (outcome.kind !== 'response' || outcome.status !== MULTI_STATUS || !claims[0]!.batch) {
    const isSuccess = outcome.kind === 'response' && outcome.status >= 200 && outcome.status < 300;
    return claims.map(() => ({ isReceived: isSuccess }));
  }
  return refusedIn(outcome.bodyStart, claims).map((refusal) => ({
    isReceived: refusal === undefined,
    refusal,
  }));
}

const answerOf = (
  outcome: HttpOutcome,
  { refusal }: Received,
): Partial<NonNullable<FinishedClaim['attempt']>> => {
  if (outcome.kind === 'response') {
    const { status, headers, bodyStart, detail } = outcome;
    const answer = { responseHeaders: headers, responseStart: bodyStart };
    return refusal === undefined
      ? { status, detail, ...answer }
      : // Nothing that asks for a 2xx finds it.
        { failure: 'not_acknowledged', detail: refusal, ...answer };
  }
  return outcome.kind === 'failure' ? { failure: outcome.failure, detail: outcome.detail } : {};
};
