import diagnostics from 'node:diagnostics_channel';
import type { FastifyInstance, RouteOptions } from 'fastify';
import { committedDocument } from '../../support/openapi-document.js';
import type { Operation } from '#entrypoints/api-docs/openapi.js';
import type { Live } from './live.js';

/** A route as registered with the framework. */
export interface Route {
  method: string;
  /** With its parameters as `:name`. */
  url: string;
  isPage: boolean;
}

/** Runs what starts the service, and returns every route that it registers; new routes are included automatically. */
export async function withRoutes<T>(start: () => Promise<T>): Promise<[T, Route[]]> {
  const routes: Route[] = [];
  const onRoute = ({ method, url, config }: RouteOptions) => {
    const isPage = url === '/o/authorize' || (config?.renderError !== undefined && !url.startsWith('/o/'));
    for (const each of [method].flat()) if (url !== '*') routes.push({ method: each, url, isPage });
  };
  const watch = (message: unknown) =>
    void (message as { fastify: FastifyInstance }).fastify.addHook('onRoute', onRoute);
  diagnostics.subscribe('fastify.initialization', watch);
  try {
    return [await start(), routes];
  } finally {
    diagnostics.unsubscribe('fastify.initialization', watch);
  }
}

/** The identity provider of the tests, by its id. */
export const PROVIDER = 'company';

/** The credentials that a route expects. */
export type Caller =
  | 'nobody'
  | 'client'
  | 'partner'
  | 'operator'
  | 'user'
  | 'visitor'
  | 'member'
  | 'console'
  | 'sandbox';

/** Every route belongs to exactly one of these areas; a test reports those that do not. */
export const AREAS: Record<string, { paths: RegExp; methods?: RegExp; caller: Caller }> = {
  'the OAuth endpoints': { paths: /^\/o\/(token|revoke_token|introspect|par)$/, caller: 'client' },
  "partners' endpoints": { paths: /^\/(webhook_portal|v2\/users|notifications)(\/|$)/, caller: 'partner' },
  'the feed of events': { paths: /^\/v2\/events$/, methods: /^(GET|HEAD)$/, caller: 'partner' },
  'publishing events': { paths: /^\/v2\/events$/, methods: /^POST$/, caller: 'operator' },
  'the admin API': { paths: /^\/admin\/(?!console)/, caller: 'operator' },
  'reports of what was read': { paths: /^\/v2\/disclosures$/, caller: 'operator' },
  'the feed of changes to access': { paths: /^\/v2\/access_changes$/, caller: 'operator' },
  'what is public': {
    paths:
      /^\/($|assets\/|v2\/problems\/|v2\/event_types(\/|$)|\.well-known\/|openapi\.json$|openapi\/|asyncapi\.json$|docs(\/|$)|health\/|metrics$|brand\.css$|logos\/|downloads\/|login\/(passkey|backchannel_logout\/)|sign-up\/:key\/passkey\/)/,
    caller: 'nobody',
  },
  'pages of users': {
    paths:
      /^\/(o\/authorize$|login$|login\/(second-factor$|providers\/)|logout$|password\/|email\/|sign-up(?!\/:key\/passkey\/)|account)/,
    caller: 'user',
  },
  'callbacks of providers': { paths: /^\/login\/callback\//, methods: /^(GET|HEAD)$/, caller: 'user' },
  'answers that providers post': { paths: /^\/login\/callback\//, methods: /^POST$/, caller: 'nobody' },
  invitations: { paths: /^\/invitations\//, caller: 'visitor' },
  'the portal': { paths: /^\/portal(\/(?!sandbox)|$)/, caller: 'member' },
  'the sandbox': { paths: /^\/portal\/sandbox(\/|$)/, caller: 'sandbox' },
  'the sandbox for programs': { paths: /^\/v2\/sandbox\//, caller: 'sandbox' },
  'the console': { paths: /^\/admin\/console(\/|$)/, caller: 'console' },
};

export const areasOf = ({ method, url }: Route): string[] =>
  Object.entries(AREAS).flatMap(([name, { paths, methods = /^/ }]) =>
    paths.test(url) && methods.test(method) ? [name] : [],
  );

/** The values for a parameter, by the part of the path before it. */
const PARAMETERS: Record<string, Live[] | string[]> = {
  users: ['userId', 'disabledUserId', 'otherOperatorId', 'ownerId'],
  clients: ['clientId', 'publicClientId', 'disabledClientId'],
  applications: ['clientId'],
  consents: ['userId'],
  endpoints: ['endpointId', 'disabledEndpointId'],
  webhook_endpoints: ['endpointId', 'disabledEndpointId'],
  deliveries: ['deliveryId'],
  recoveries: ['recoveryId'],
  notifications: ['notificationId', 'ownNotificationId'],
  grants: ['grantId'],
  approvals: ['approvalId'],
  scopes: ['scopeName'],
  purposes: ['purposeName'],
  sessions: ['sessionId'],
  passkeys: ['passkeyId'],
  login: ['portalKey'],
  password: ['passwordKey'],
  verify: ['emailKey'],
  unsubscribe: ['unsubscribeKey'],
  'sign-up': ['signUpKey'],
  contacts: ['contactId'],
  members: ['memberId', 'userId'],
  'sign-in': ['clientId', 'disabledClientId'],
  export: ['exportKey'],
  invitations: ['invitationKey'],
  operator_invitations: ['operatorInvitationId'],
  withdraw: ['invitationId', 'operatorInvitationId'],
  redirect_uri_requests: ['redirectUriRequestId'],
  'redirect-uris': ['redirectUriRequestId'],
  drivers: ['driverId'],
  of: ['clientId'],
  webhooks: ['clientId'],
  receipts: ['receiptId'],
  requests: ['requestId'],
};

/** The values for a parameter that no fixture stands for, by the part of the path before it. */
const CONSTANTS: Record<string, string[]> = {
  problems: ['not-found', 'rate-limit-exceeded'],
  guides: ['errors'],
  logos: ['0'.repeat(64)],
  libraries: ['authlib'],
  downloads: ['charging-data-cli.tgz'],
  providers: [PROVIDER],
  callback: [PROVIDER],
  backchannel_logout: [PROVIDER],
  identities: [PROVIDER],
  'event-types': ['vehicle.updated', 'webhook.test'],
  event_types: ['vehicle.updated', 'webhook.test'],
  versions: ['1', '2'],
};

/** Returns the parameters of a route in order, each with its possible values. Throws for an unknown parameter. */
export function parametersOf({ url }: Route): string[][] {
  return [...url.matchAll(/([^/]+)\/:(\w+)/g)].map(([, before]) => {
    if (before! in CONSTANTS) return CONSTANTS[before!]!;
    const names = PARAMETERS[before!];
    if (!names)
      throw new Error(`What stands for the parameter after ${before} in ${url}? Say it in PARAMETERS.`);
    return names.map((name) => `@@${name}@@`);
  });
}

/** Returns the path with these values in place of its parameters, in order. */
export const pathWith = (url: string, values: string[]): string => {
  const left = [...values];
  return url.replace(/:\w+/g, () => left.shift()!);
};

const { paths } = committedDocument;

/** Returns what the OpenAPI document says about a route. */
export const operationOf = ({ method, url }: Route): Operation | undefined => {
  const path = url.replace(/:(\w+)/g, '{$1}');
  const found = paths[path] ?? paths[`${path}/`];
  return found?.[method.toLowerCase() as keyof typeof found];
};
