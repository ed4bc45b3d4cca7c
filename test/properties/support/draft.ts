import { REDIRECT_URI } from '../../support/factory.js';
import { live, type Live } from './live.js';
import type { Caller } from './routes.js';
import { VERIFIER } from './world.js';

/** A request before it is sent: the same draft is the same request, whatever the fixtures are then. */
export interface Draft {
  method: string;
  path: string;
  /** Without the question mark. */
  query: string;
  headers: Record<string, string>;
  /** What has to be there although nothing names it. */
  needs?: Live[];
  body?: BodyDraft | FormDraft;
}

export interface BodyDraft {
  type: string | undefined;
  text: string;
  /** What becomes of the bytes. */
  spoilt?: Spoilt;
}

export const SPOILT = ['cut', 'not_utf8', 'with_bom', 'utf16'] as const;
type Spoilt = (typeof SPOILT)[number];

/** A form that a page shows when it is opened with the same credentials, filled in. */
export interface FormDraft {
  page: string;
  /** Where it leads: tells it from the others on the page. */
  action: string;
  csrf: 'right' | 'absent' | 'wrong';
  /** In place of what the form shows; empty: left out. */
  fields: Record<string, string[]>;
  further: [string, string][];
  /** Put behind it as it is. */
  tail: string;
}

const browser = (session: string) =>
  `session=${session}; portal_session=${live('portalSession')}; csrf=${live('csrfSecret')}`;

/** The headers by which somebody is known. */
export const CALLERS: Record<Caller | 'owner' | 'service' | 'visitor', Record<string, string>> = {
  nobody: {},
  visitor: { cookie: `csrf=${live('csrfSecret')}` },
  client: { authorization: `Basic ${live('clientBasic')}` },
  service: { authorization: `Basic ${live('operatorBasic')}` },
  partner: { authorization: `Bearer ${live('partnerToken')}` },
  owner: { authorization: `Bearer ${live('accessToken')}` },
  operator: { authorization: `Bearer ${live('operatorToken')}` },
  user: { cookie: browser(live('userSession')) },
  console: { cookie: browser(live('operatorSession')) },
};

const CHALLENGE = '-'.repeat(43);
const AUTHORIZATION = new URLSearchParams({ response_type: 'code', redirect_uri: REDIRECT_URI, state: 's' });

/** The query with which a page shows its form, or an endpoint answers as it is meant to. */
export const QUERIES: Record<string, string> = {
  '/o/authorize': `${AUTHORIZATION.toString()}&client_id=${live('clientId')}&code_challenge=${CHALLENGE}&code_challenge_method=S256`,
  '/admin/console/confirm-password': 'return_to=/admin/console',
};

/** What has to be there for a form to be shown. */
export const NEEDS: Record<string, Live[]> = {
  '/portal/endpoints/:id/recover': ['deliveryId'],
  '/portal/verify': ['endpointId'],
};

/** What a person types into a form where it is not what its fields' names say. */
export const TYPED_AT: Record<string, Record<string, string[]>> = {
  '/login': { email: [live('email')] },
};

/** Forms for programs, each as it is meant. */
export const FORMS: Record<string, Record<string, string>[]> = {
  '/o/token': [
    { grant_type: 'client_credentials' },
    {
      grant_type: 'authorization_code',
      code: live('code'),
      redirect_uri: REDIRECT_URI,
      code_verifier: VERIFIER,
    },
    { grant_type: 'refresh_token', refresh_token: live('refreshToken') },
  ],
  '/o/revoke_token': [{ token: live('accessToken') }, { token: live('refreshToken') }],
  '/o/introspect': [{ token: live('accessToken') }, { token: live('partnerToken'), user_id: live('userId') }],
};
