import {
  validateHeaderValue,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http';
import { guarded, type AccessGuard } from './access-guard.js';
import type { Access } from './introspection.js';
import { userPattern, type UserOfPath } from './path-pattern.js';
import { AccessRefusal, unavailable } from './refusal.js';

/** What the requests of a route need. */
export interface GatewayRoute {
  /** All of these scopes. Without any, with a user in the path, a token that may do something with the user's data is enough. */
  scopes?: readonly string[];
  /**
   * Whose data is asked for: the user in the path (`/users/{user}/vehicles/**`; a request that names none there is refused), the user of the
   * token (`token`; tokens that a client got in its own name are refused), or nobody's (`none`).
   */
  user: string;
}

/** How a gateway asks. */
export interface ForwardAuthOptions {
  /** By the name that the gateway asks for: `/check/<name>`. */
  routes: Readonly<Record<string, GatewayRoute>>;
  /**
   * Where the address of the request is that the gateway has received: after the name of the route (`path`, the default), or in the header
   * `X-Forwarded-Uri`. Choose the header only for a gateway that always sets it itself.
   */
  originalUri?: 'path' | 'x-forwarded-uri';
  /**
   * Where the method of the request is that the gateway has received: that of its own request (`request`, as Envoy has it), or in the header
   * `X-Forwarded-Method` (Traefik, Caddy). Without it no proof can be checked, so tokens that are bound to a key are refused.
   */
  originalMethod?: 'request' | 'x-forwarded-method';
  /** The status that admits a request: 204 by default. Envoy wants 200. */
  admittedStatus?: 200 | 204;
  /** Is told of errors of the guard itself. */
  onError?: (error: unknown) => void;
}

interface Route {
  scopes: readonly string[];
  /** Undefined unless the path names the user. */
  userOf: UserOfPath | undefined;
  needsUsersToken: boolean;
}

const NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/;
const ASKED = /^\/check\/([^/?]+)(.*)$/s;
// RFC 6749 §3.3.
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]+$/;
/** A header is never left out or empty: some gateways would then let one through that the outside has sent. */
const NOTHING = '-';

/**
 * Answers the requests with which a gateway asks whether to let a request through (`auth_request` of nginx, `forwardAuth` of Traefik,
 * `forward_auth` of Caddy, `ext_authz` of Envoy): 204 with `X-Auth-Client`, `X-Auth-User` and `X-Auth-Scopes`, 401, 403, or 503 if it cannot
 * know. Believes nothing of the request but its token and its address. Also serves the metadata (RFC 9728). Throws a TypeError for a
 * wrong option.
 */
export function forwardAuth(guard: AccessGuard, options: ForwardAuthOptions): RequestListener {
  const { admittedStatus = 204, originalUri = 'path', originalMethod, onError = () => undefined } = options;
  const routes = new Map(Object.entries(options.routes).map(([name, route]) => [name, routeOf(name, route)]));

  const accessFor = async (request: IncomingMessage): Promise<Access | undefined> => {
    const [, name, rest] = ASKED.exec(request.url ?? '') ?? [];
    const route = routes.get(name ?? '');
    if (!route) return undefined;
    const { 'x-forwarded-uri': forwarded, 'x-forwarded-method': forwardedMethod } = request.headers;
    const uri = originalUri === 'path' ? rest : forwarded;
    const url = typeof uri === 'string' ? uri : '';
    const userId = route.userOf && (route.userOf(url) ?? '');
    const methods = { request: request.method, 'x-forwarded-method': asText(forwardedMethod) };
    const method = originalMethod && methods[originalMethod];
    const access = await guard.authorize(
      { ...guarded(request, url), method },
      { scopes: route.scopes, userId },
    );
    if (route.needsUsersToken && access.userId === undefined) throw withoutUser();
    return { ...access, userId: userId ?? access.userId };
  };

  return (request, response) => {
    request.resume();
    if (request.url === guard.metadataPath) return answerMetadata(guard, response);
    accessFor(request)
      .then((access) => {
        if (access) admit(response, admittedStatus, access);
        // No gateway takes this for an admission.
        else response.writeHead(404).end();
      })
      .catch((error: unknown) => {
        if (!(error instanceof AccessRefusal)) onError(error);
        refuse(response, error instanceof AccessRefusal ? error : unavailable(1));
      });
  };
}

const asText = (header: string | string[] | undefined): string | undefined =>
  typeof header === 'string' ? header : undefined;

function admit(response: ServerResponse, status: 200 | 204, { clientId, userId, scopes }: Access): void {
  const headers = {
    'cache-control': 'no-store',
    ...(status === 200 ? { 'content-length': '0' } : {}),
    'x-auth-client': clientId,
    'x-auth-user': userId ?? NOTHING,
    'x-auth-scopes': scopes.join(' ') || NOTHING,
  };
  // What `writeHead` refuses leaves a response that can no longer become a refusal.
  for (const [name, value] of Object.entries(headers)) validateHeaderValue(name, value);
  response.writeHead(status, headers).end();
}

/** Gateways know 401 and 403 only: to others a 400 is an error of the guard. */
function refuse(response: ServerResponse, { status, headers, body }: AccessRefusal): void {
  response.writeHead(status === 400 ? 401 : status, headers).end(body);
}

function answerMetadata(guard: AccessGuard, response: ServerResponse): void {
  response
    .writeHead(200, {
      'content-type': 'application/json',
      'access-control-allow-origin': '*',
      'cache-control': 'max-age=3600',
    })
    .end(JSON.stringify(guard.metadata));
}

const withoutUser = (): AccessRefusal =>
  new AccessRefusal(403, 'Forbidden', 'This requires an access token on behalf of a user.');

function routeOf(name: string, { scopes = [], user }: GatewayRoute): Route {
  if (!NAME.test(name)) throw new TypeError(`routes: ${name} is no name (lower case, digits, - and _)`);
  if (!Array.isArray(scopes) || !scopes.every((scope) => typeof scope === 'string' && SCOPE.test(scope))) {
    throw new TypeError(`routes: scopes of ${name} must be a list of scopes`);
  }
  if (typeof user !== 'string') {
    throw new TypeError(`routes: user of ${name} must be a path with {user} in it, token or none`);
  }
  const isInPath = user !== 'token' && user !== 'none';
  if (scopes.length === 0 && !isInPath)
    throw new TypeError(`routes: ${name} needs scopes: any token would do`);
  return {
    scopes,
    userOf: isInPath ? userPattern(user) : undefined,
    needsUsersToken: user === 'token',
  };
}
