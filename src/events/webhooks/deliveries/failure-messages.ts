import type { Attempt, CancelReason, Delivery, PayloadHidden } from './delivery.js';
import { CLIENT_CERTIFICATE, HTTP2_ONLY, type FailureKind } from '../http/http-outcome.js';

interface Words {
  /** A short name of what happened. */
  what: string;
  /** What to do about it. */
  advice: string;
}

const FAILURES: Record<FailureKind, Words> = {
  dns: {
    what: 'Host name not found (DNS)',
    advice: 'Check the spelling of the host in the URL, and that its name has a public A or AAAA record.',
  },
  tls: {
    what: 'TLS connection failed',
    advice:
      'Check the certificate of your server: it must be valid for this host name and be sent with its intermediate certificates.',
  },
  timeout: {
    what: 'Timeout',
    advice:
      'Your server must respond within 15 seconds. Respond immediately with a 2xx status and do the work afterwards.',
  },
  blocked_address: {
    what: 'Blocked address',
    advice:
      'The host points to an internal address, and we only connect to public ones. Give it a public address, or change the URL.',
  },
  connection: {
    what: 'Connection failed',
    advice:
      'Check that your server is running, that it listens on the port of the URL, and that your firewall allows our requests.',
  },
  http: {
    what: 'Invalid response (HTTP)',
    advice: 'The server did not send a complete HTTP response. Check what listens on the port of the URL.',
  },
  token: {
    what: 'No access token',
    advice:
      'Check the token endpoint, the client ID, the client secret and the scope of the endpoint, and the logs of your authorization server.',
  },
  not_acknowledged: {
    what: 'Not acknowledged (207)',
    advice:
      'Your server received the batch, but did not acknowledge this event. Name under “failed” the ids of the events to be sent again, and no others.',
  },
};

/** Advice by detail, where that of the kind would mislead. */
const DETAILS = new Map([
  [HTTP2_ONLY, 'We send requests with HTTP/1.1. Let your server accept it too, beside HTTP/2.'],
  [
    CLIENT_CERTIFICATE,
    'We do not present client certificates. Do not demand one for this URL: check the signature of each request instead.',
  ],
]);

/** Advice by status; specific statuses come before their class. */
const STATUSES: [matches: (status: number) => boolean, advice: string][] = [
  [
    (status) => status < 400,
    'We do not follow redirects. Change the URL of the endpoint to the redirect target.',
  ],
  [
    (status) => status === 401 || status === 403,
    'Your server refused the request. Check for a login, a firewall or a signature check in front of it.',
  ],
  [
    (status) => status === 404 || status === 405,
    'Your server has nothing at this path for a POST. Check the path of the URL.',
  ],
  [
    (status) => status === 410,
    'Your server says that the endpoint is gone, so it was disabled. If that was a mistake, enable it again.',
  ],
  [
    (status) => status === 413,
    'Your server does not accept a body of this size. Allow 128 kB, and 256 kB for batches.',
  ],
  [
    (status) => status === 429,
    'Your server asks us to slow down. We honour its Retry-After header, up to 24 hours.',
  ],
  [(status) => status === 426 || status === 505, DETAILS.get(HTTP2_ONLY)!],
  [(status) => status < 500, 'Your server refused the request. See its response and its logs.'],
  [() => true, 'Your server returned an error. See its logs.'],
];

type Outcome = Pick<Attempt, 'status' | 'failure' | 'url'>;

export const isSuccess = ({ status }: Pick<Outcome, 'status'>): boolean =>
  status !== null && status >= 200 && status < 300;

/** Whether there was a request; its detail says why not. */
export const wasSent = <A extends Pick<Attempt, 'url' | 'failure'>>(
  attempt: A,
): attempt is A & { url: string } => attempt.url !== null && attempt.failure !== 'token';

/** Whether something can be done about a failed one at the receiver, or at its authorization server. */
export const hasAdvice = ({ url }: Pick<Attempt, 'url'>): boolean => url !== null;

/** The outcome of an attempt, in a few words. */
export const outcomeText = ({ status, failure, url }: Outcome): string => {
  if (status !== null) return `Status ${status}`;
  return url === null ? 'Not sent' : FAILURES[failure ?? 'http'].what;
};

/** What to do about an attempt that failed. */
export function adviceFor({ status, failure, detail }: Outcome & Pick<Attempt, 'detail'>): string {
  if (status !== null) return STATUSES.find(([matches]) => matches(status))![1];
  return DETAILS.get(detail ?? '') ?? FAILURES[failure ?? 'http'].advice;
}

export const CANCEL_REASONS: Record<CancelReason, string> = {
  consent_withdrawn: 'The user withdrew the consent, or was not sharing data, before it was sent.',
  scope_missing: 'Your client does not hold the scope that this event type needs.',
  endpoint_disabled: 'The endpoint was disabled. Enable it, then resend.',
  endpoint_deleted: 'The endpoint was deleted.',
  client_disabled: 'Your client was disabled.',
};

export const PAYLOAD_HIDDEN: Record<PayloadHidden, string> = {
  not_consented:
    'The payload is not shown: it was never delivered, and the user does not currently share this data with your client.',
  erased: 'The account of the user was erased, and the payload with it. It cannot be resent.',
};

/** The newest delivery of these, the newest first, whose last attempt failed. */
export const newestFailure = (deliveries: Delivery[]): Delivery | undefined =>
  deliveries.find(({ attempts, lastStatus: status }) => attempts > 0 && !isSuccess({ status }));

/** Why an endpoint fails, in a few words, from its newest deliveries. */
export function whyFailing(deliveries: Delivery[]): string | undefined {
  const failure = newestFailure(deliveries);
  return failure && lastOutcome(failure);
}

/** The outcome of a delivery's last attempt, in a few words. */
export function lastOutcome(delivery: Delivery): string {
  const { lastStatus: status, lastFailure: failure, lastUrl: url, attempts, state } = delivery;
  if (attempts === 0) return state === 'cancelled' ? 'Not sent' : 'Not sent yet';
  return outcomeText({ status, failure, url });
}
