import { Injectable } from '@nestjs/common';
import { Form } from '#platform/http/forms/form.js';
import { digestOf, isSecret, newSecret } from '#platform/secrets/tokens.js';
import { PushedRequestsRepository } from './pushed-requests.repository.js';

/** RFC 9126 §2.2. */
const URN = 'urn:ietf:params:oauth:request_uri:';
/** FAPI 2.0 §5.3.2.2-11: below 600 s. */
export const PUSHED_REQUEST_SECONDS = 60;
/** From the moment that a browser opens it: as long as a person may take to log in and to read. */
const OPENED_SECONDS = 3600;
/** What is stored besides `client_id`: no credentials, and nothing that is ignored, such as a `login_hint` with somebody's address. */
const STORED = new Set([
  ...['response_type', 'response_mode', 'redirect_uri', 'scope', 'state'],
  ...[
    'code_challenge',
    'code_challenge_method',
    'ui_locales',
    'dpop_jkt',
    'resource',
    'acr_values',
    'max_age',
  ],
]);

/** Decision 36: the second click of a double click gets a code too, because browsers show the answer to that one. */
const SECOND_CLICK_SECONDS = 10;

/** A pushed request as it is opened. */
export interface Pushed {
  digest: Buffer;
  /** Of the form that decides it; null while it is only shown. */
  form: Buffer | null;
  uiLocales: string | undefined;
}

/** A request that was opened. */
interface OpenedRequest {
  /** The parameters that the client pushed. */
  query: Form;
  /** The query string that opens it again, without anything else that was beside. */
  source: string;
  pushed: Pushed;
}

/** Authorization requests that clients push (RFC 9126): stored, opened by the browser, and used up by the decision. */
@Injectable()
export class PushedRequests {
  constructor(private readonly repository: PushedRequestsRepository) {}

  /** Stores a request that was checked, and returns its `request_uri`; undefined if the client has been deleted meanwhile. */
  async push(clientId: string, query: string): Promise<string | undefined> {
    const secret = newSecret('pushedRequest');
    const isStored = await this.repository.insert(digestOf(secret), clientId, query, PUSHED_REQUEST_SECONDS);
    return isStored ? URN + secret : undefined;
  }

  /**
   * The request that the parameters of the authorization page name; undefined if it is unknown, over, decided, or of another client.
   * `posted`: the form with the decision.
   */
  async open(parameters: Form, posted?: Form): Promise<OpenedRequest | undefined> {
    const [clientId, uri] = [parameters.get('client_id'), parameters.get('request_uri')];
    if (clientId === undefined || !uri?.startsWith(URN)) return undefined;
    const secret = uri.slice(URN.length);
    if (!isSecret('pushedRequest', secret)) return undefined;
    const digest = digestOf(secret);
    const form = posted ? digestOf(posted.source) : null;
    const stored = await this.repository.open(digest, clientId, form, OPENED_SECONDS);
    if (stored === undefined) return undefined;
    const query = Form.parse(stored);
    const source = new URLSearchParams({ client_id: clientId, request_uri: uri }).toString();
    return { query, source, pushed: { digest, form, uiLocales: query.get('ui_locales') } };
  }

  /** Uses the request up, in the transaction of the decision if it has one; false if it was decided otherwise already. */
  async decide({ digest, form }: Pushed): Promise<boolean> {
    return form !== null && this.repository.decide(digest, form, SECOND_CLICK_SECONDS);
  }
}

/**
 * The parameters of a posted form that the authorization page knows, as a query string of the client. `jkt`: the thumbprint of the key of the
 * proof that came with it.
 */
export function authorizationQueryOf(form: Form, clientId: string, jkt?: string): string {
  const known = [...new URLSearchParams(form.source)].filter(([name]) => STORED.has(name));
  const bound = jkt === undefined || form.get('dpop_jkt') !== undefined ? [] : [['dpop_jkt', jkt]];
  return new URLSearchParams([['client_id', clientId], ...known, ...bound] as [string, string][]).toString();
}
