import { REDIRECT_URI } from '../../support/factory.js';
import { live, type Live } from './live.js';
import type { Caller } from './routes.js';
import { VERIFIER } from './world.js';

/** A request before it is sent. The same draft is the same request, whatever the fixtures are at that time. */
export interface Draft {
  method: string;
  path: string;
  /** Without the question mark. */
  query: string;
  headers: Record<string, string>;
  /** Fixtures that must exist although nothing names them. */
  needs?: Live[];
  body?: BodyDraft | FormDraft;
}

export interface BodyDraft {
  type: string | undefined;
  text: string;
  /** How the bytes are damaged. */
  spoilt?: Spoilt;
}

export const SPOILT = ['cut', 'not_utf8', 'with_bom', 'utf16'] as const;
type Spoilt = (typeof SPOILT)[number];

/** A form on a page that is opened with the same credentials, filled in. */
export interface FormDraft {
  page: string;
  /** The form's action, which tells it from the other forms of the page. */
  action: string;
  /** `foreign`: that of another form on the page, if it has one. */
  csrf: 'right' | 'absent' | 'wrong' | 'foreign';
  /** Values in place of those that the form shows; a field with an empty list is left out. */
  fields: Record<string, string[]>;
  further: [string, string][];
  /** Appended unchanged. */
  tail: string;
}

const browser = (session: string, portalSession = live('portalSession')) =>
  `cds_session=${session}; cds_portal_session=${portalSession}; cds_csrf=${live('csrfSecret')}; cds_pending_sign_in=${live('pendingSignIn')}`;

/** The headers with the credentials of each caller. */
export const CALLERS: Record<Caller | 'owner' | 'service', Record<string, string>> = {
  nobody: {},
  visitor: { cookie: `cds_csrf=${live('csrfSecret')}; cds_pending_sign_in=${live('pendingSignIn')}` },
  client: { authorization: `Basic ${live('clientBasic')}` },
  service: { authorization: `Basic ${live('operatorBasic')}` },
  partner: { authorization: `Bearer ${live('partnerToken')}` },
  owner: { authorization: `Bearer ${live('accessToken')}` },
  operator: { authorization: `Bearer ${live('operatorToken')}` },
  user: { cookie: browser(live('userSession')) },
  member: { cookie: browser(live('ownerSession'), live('memberSession')) },
  console: { cookie: browser(live('operatorSession')) },
  sandbox: {
    authorization: `Bearer ${live('sandboxToken')}`,
    cookie: browser('none', live('sandboxPortalSession')),
  },
};

const CHALLENGE = '-'.repeat(43);
const AUTHORIZATION = new URLSearchParams({ response_type: 'code', redirect_uri: REDIRECT_URI, state: 's' });

/** The query that makes a page show its form, or an endpoint answer normally. */
export const QUERIES: Record<string, string> = {
  '/o/authorize': `${AUTHORIZATION.toString()}&client_id=${live('clientId')}&code_challenge=${CHALLENGE}&code_challenge_method=S256`,
  '/admin/console/confirm-password': 'return_to=/admin/console',
  '/brand.css': 'accent=0a6b4d',
};

/** The fixtures that must exist for a form to be shown. */
export const NEEDS: Record<string, Live[]> = {
  '/portal/endpoints/:id/recover': ['deliveryId'],
  '/portal/deliveries/matching': ['deliveryId'],
  '/account/delete/keep': ['deletion'],
  '/account/export': ['confirmedAddress'],
  '/portal/verify': ['endpointId'],
  '/portal/credentials': ['oldSecret'],
  '/portal/credentials/end': ['oldSecret'],
  '/portal/credentials/keys/add': ['clientKeys'],
  '/portal/credentials/keys/end': ['clientKeys'],
  '/portal/deliveries/selected': ['deliveryId'],
  '/admin/console/users/:id/members/new': ['memberId'],
};

/** The form of a client with a secret, which stands for no resource. */
const WITHOUT_KEYS = {
  resource_indicators: [''],
  token_endpoint_auth_method: [''],
  jwks: [''],
  jwks_uri: [''],
  access_token_lifetime: [''],
  security_profile: [''],
};

/** One condition, which events of every type can hold. */
const FILTERED = {
  'filters.0.path': ['type'],
  'filters.0.operator': ['exists'],
  'filters.0.value': [''],
  'filters.1.path': [''],
};

/** Of an endpoint whose receiver is behind OAuth. */
const BEHIND_OAUTH = {
  'authentication.token_url': [live('hookUrl')],
  'authentication.client_id': ['a'],
  'authentication.client_secret': ['b'],
  'authentication.scope': ['c'],
};
const NOT_BEHIND_OAUTH = Object.fromEntries(Object.keys(BEHIND_OAUTH).map((name) => [name, ['']]));

/** What a person types into a form, where it does not follow from the field's name. */
export const TYPED_AT: Record<string, Record<string, string[]>> = {
  '/login': { email: [live('email')] },
  '/account/delete': { email: [live('email')] },
  '/login/second-factor': { code: [live('recoveryCode')] },
  '/admin/console/clients/new': {
    ...WITHOUT_KEYS,
    owner: [live('ownerId')],
    optional_scopes: [],
    company_service: [],
  },
  '/admin/console/clients/:client_id/edit': { ...WITHOUT_KEYS, optional_scopes: [], company_service: [] },
  '/admin/console/event-types/new': { name: [live('newName')], sample: ['{"id":"a thing"}'] },
  '/admin/console/notifications/new': { client_id: [''] },
  '/admin/console/purposes/new': { name: [live('newName')] },
  '/admin/console/scopes/new': { name: [live('newName')] },
  '/admin/console/scopes/:name/edit': { meaning_changed: [] },
  '/admin/console/users/:id/members/new': { user: [live('disabledUserId')] },
  '/admin/console/clients/:client_id/endpoints/new': BEHIND_OAUTH,
  '/admin/console/endpoints/:id/edit': NOT_BEHIND_OAUTH,
  '/portal/endpoints/new': { ...FILTERED, ...BEHIND_OAUTH, do: [''] },
  '/portal/endpoints/:id/edit': { ...FILTERED, ...NOT_BEHIND_OAUTH, do: [''] },
  '/portal/credentials/keys/add': {
    jwk: ['{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}'],
  },
};

/** Forms that no valid values are known for here, with the reason. */
export const REFUSED_HERE: Record<string, string> = {
  '/account/security/app/new': 'the code follows from a secret that the page says in words',
  '/account/security/passkeys/new': 'a passkey is made by a browser',
  '/admin/console/event-types/:type/versions/:version': 'events were published with the version, which stays',
  '/portal/redirect-uris/remove': 'the client has one redirect URI, which stays',
};

/** Valid forms for programs. */
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
  '/o/par': [{ response_type: 'code', redirect_uri: REDIRECT_URI, state: 's' }],
  '/o/revoke_token': [{ token: live('accessToken') }, { token: live('refreshToken') }],
  '/o/introspect': [{ token: live('accessToken') }, { token: live('partnerToken'), user_id: live('userId') }],
};
