import type { Attempt, CancelReason, Delivery } from '../../webhooks/deliveries/delivery.js';
import type { FailureKind } from '../../webhooks/http/http-outcome.js';

interface Words {
  /** What happened, as a name. */
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
    what: 'No secure connection (TLS)',
    advice:
      'Check the certificate of your server: it must be valid, for this host name, and be sent with its intermediate certificates.',
  },
  timeout: {
    what: 'Time-out',
    advice:
      'Your server must answer within 15 seconds. Answer at once with a 2xx status, and do the work afterwards.',
  },
  blocked_address: {
    what: 'Blocked address',
    advice:
      'The host points to an internal address, which we never connect to. Give it a public address, or change the URL.',
  },
  connection: {
    what: 'Connection failed',
    advice:
      'Check that your server is running, that it listens on the port of the URL, and that a firewall lets us in.',
  },
  http: {
    what: 'Invalid answer (HTTP)',
    advice: 'What answered did not send a complete HTTP answer. Check what listens on the port of the URL.',
  },
};

/** Statuses with a cause of their own, before those of their hundred. */
const STATUSES: [matches: (status: number) => boolean, advice: string][] = [
  [
    (status) => status < 400,
    'We do not follow redirects. Change the URL of the endpoint to where the answer points.',
  ],
  [
    (status) => status === 401 || status === 403,
    'Your server refuses the request. Check what stands before it, such as a login, a firewall or a check of the signature.',
  ],
  [
    (status) => status === 404 || status === 405,
    'Your server has nothing at this path for a POST. Check the path of the URL.',
  ],
  [
    (status) => status === 410,
    'Your server says that the endpoint is gone, so it was disabled. If that was a mistake, enable it again.',
  ],
  [(status) => status === 413, 'Your server does not take a body of this size. Allow 64 kB.'],
  [
    (status) => status === 429,
    'Your server asks us to be slower. We honour its Retry-After header, up to 24 hours.',
  ],
  [(status) => status < 500, 'Your server refuses the request. Its answer and its logs say why.'],
  [() => true, 'Something goes wrong in your server. Its logs say what.'],
];

type Outcome = Pick<Attempt, 'status' | 'failure'>;

export const isSuccess = ({ status }: Pick<Outcome, 'status'>): boolean =>
  status !== null && status >= 200 && status < 300;

/** What came of an attempt, in a few words. */
export const outcomeWords = ({ status, failure }: Outcome): string =>
  status === null ? FAILURES[failure ?? 'http'].what : `Status ${status}`;

/** What to do about an attempt that failed. */
export const adviceFor = ({ status, failure }: Outcome): string =>
  status === null ? FAILURES[failure ?? 'http'].advice : STATUSES.find(([matches]) => matches(status))![1];

export const CANCEL_REASONS: Record<CancelReason, string> = {
  consent_withdrawn: 'The user took back the consent before it was sent.',
  scope_missing: 'Your application does not hold the scope that this event type needs.',
  endpoint_disabled: 'The endpoint was disabled. Enable it, then resend.',
  endpoint_deleted: 'The endpoint was deleted.',
  client_disabled: 'Your application was switched off.',
};

/** What is known of a delivery at a glance. */
export function lastOutcome({ lastStatus, lastFailure, attempts, state }: Delivery): string {
  if (attempts === 0) return state === 'cancelled' ? 'Not sent' : 'Not sent yet';
  return outcomeWords({ status: lastStatus, failure: lastFailure });
}
