import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parseArgs } from 'node:util';
import { AccessGuard } from './access-guard.js';
import { forwardAuth, type ForwardAuthOptions } from './forward-auth.js';
import type { GuardOptions } from './options.js';

export const HELP = `charging-data-guard --routes <file>

Answers a gateway (nginx, Envoy, Traefik, Caddy) that asks whether to let a request with an access token of the
Charging Data Service through: GET /check/<route>

  --routes <file>           JSON: what the requests of each route need
  --url <url>               the service            (or CHARGING_DATA_URL)
  --client-id <id>          a client with token:introspect   (or CHARGING_DATA_CLIENT_ID)
  --resource <url>          the public address of what is behind the gateway   (or RESOURCE)
  --original-uri <where>    path (the default), or x-forwarded-uri
  --original-method <where> accepts tokens that are bound to a key (DPoP): request for Envoy, x-forwarded-method for Traefik and Caddy
  --admitted-status <n>     204 (the default), or 200 for Envoy
  --host <address>          127.0.0.1
  --port <n>                4180
  --help

Its secret is in CHARGING_DATA_CLIENT_SECRET, or in the file that CHARGING_DATA_CLIENT_SECRET_FILE names.
`;

/** Where the program reads and writes, and what ends it. */
export interface GatewaySurroundings {
  env: NodeJS.ProcessEnv;
  out: (text: string) => void;
  error: (text: string) => void;
  stop: AbortSignal;
}

interface ProgramOptions {
  guard: GuardOptions;
  forward: ForwardAuthOptions;
  host: string;
  port: number;
}

/** Runs the program until it is stopped; returns its exit code: 2 for a mistake in what it was given. */
export async function runGateway(
  args: string[],
  { env, out, error, stop }: GatewaySurroundings,
): Promise<number> {
  const warn = (message: string): void => error(`${message}\n`);
  let guard: AccessGuard;
  let options: ProgramOptions;
  let listener: ReturnType<typeof forwardAuth>;
  try {
    const read = readOptions(args, env);
    if (!read) {
      out(HELP);
      return 0;
    }
    options = read;
    guard = new AccessGuard({ ...options.guard, onWarning: warn });
    const onError = (problem: unknown) => warn(`A check failed: ${(problem as Error).message}`);
    listener = forwardAuth(guard, { ...options.forward, onError });
  } catch (mistake) {
    warn(`${(mistake as Error).message}\nSee charging-data-guard --help.`);
    return 2;
  }
  const server = createServer(listener);
  // Longer than gateways keep an idle connection, so that none is closed under a request.
  server.keepAliveTimeout = 72_000;
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen(options.port, options.host, resolve);
    });
  } catch (problem) {
    warn(`It cannot listen: ${(problem as Error).message}`);
    await guard.close();
    return 1;
  }
  guard.start();
  const { port } = server.address() as AddressInfo;
  out(`Listening at http://${options.host.includes(':') ? `[${options.host}]` : options.host}:${port}\n`);
  if (!stop.aborted) await new Promise((resolve) => stop.addEventListener('abort', resolve, { once: true }));
  const closed = new Promise((resolve) => server.close(resolve));
  server.closeIdleConnections();
  await closed;
  await guard.close();
  return 0;
}

function readOptions(args: string[], env: NodeJS.ProcessEnv): ProgramOptions | undefined {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({
    args,
    options: {
      routes: text,
      url: text,
      'client-id': text,
      resource: text,
      'original-uri': text,
      'original-method': text,
      'admitted-status': text,
      host: { ...text, default: '127.0.0.1' },
      port: { ...text, default: '4180' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help) return undefined;
  const given = (flag: 'url' | 'client-id' | 'resource', variable: string): string => {
    const value = values[flag] ?? env[variable];
    if (value === undefined || value === '') throw new TypeError(`Give --${flag} or set ${variable}.`);
    return value;
  };
  if (values.routes === undefined) throw new TypeError('Give --routes: the file with the routes.');
  const originalUri = values['original-uri'] ?? 'path';
  if (originalUri !== 'path' && originalUri !== 'x-forwarded-uri') {
    throw new TypeError('--original-uri must be path or x-forwarded-uri.');
  }
  const originalMethod = values['original-method'];
  if (
    originalMethod !== undefined &&
    originalMethod !== 'request' &&
    originalMethod !== 'x-forwarded-method'
  ) {
    throw new TypeError('--original-method must be request or x-forwarded-method.');
  }
  const admittedStatus = Number(values['admitted-status'] ?? '204');
  if (admittedStatus !== 200 && admittedStatus !== 204) {
    throw new TypeError('--admitted-status must be 204 or 200.');
  }
  if (!/^\d{1,5}$/.test(values.port)) throw new TypeError('--port must be a port.');
  const routes = routesIn(values.routes);
  const scopes = Object.values(routes).flatMap((route) => route.scopes ?? []);
  return {
    guard: {
      url: given('url', 'CHARGING_DATA_URL'),
      clientId: given('client-id', 'CHARGING_DATA_CLIENT_ID'),
      clientSecret: secretOf(env),
      resource: given('resource', 'RESOURCE'),
      dpop: originalMethod !== undefined,
      ...(scopes.length === 0 ? {} : { scopesSupported: [...new Set(scopes)] }),
    },
    forward: { routes, originalUri, originalMethod, admittedStatus },
    host: values.host,
    port: Number(values.port),
  };
}

function routesIn(file: string): ForwardAuthOptions['routes'] {
  let routes: unknown;
  try {
    routes = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new TypeError(`--routes: ${file} cannot be read: ${(error as Error).message}`, { cause: error });
  }
  const isRoutes =
    typeof routes === 'object' &&
    routes !== null &&
    Object.keys(routes).length > 0 &&
    Object.values(routes).every((route) => typeof route === 'object' && route !== null);
  if (!isRoutes) throw new TypeError(`--routes: ${file} must be an object with a route for each name.`);
  for (const [name, route] of Object.entries(routes as object)) {
    const unknown = Object.keys(route as object).filter((member) => !['scopes', 'user'].includes(member));
    if (unknown.length > 0)
      throw new TypeError(`--routes: ${name} has ${unknown.join(', ')}, which is not known.`);
  }
  return routes as ForwardAuthOptions['routes'];
}

function secretOf(env: NodeJS.ProcessEnv): string {
  const { CHARGING_DATA_CLIENT_SECRET: secret, CHARGING_DATA_CLIENT_SECRET_FILE: file } = env;
  if (secret && file) {
    throw new TypeError('Set CHARGING_DATA_CLIENT_SECRET or CHARGING_DATA_CLIENT_SECRET_FILE, not both.');
  }
  if (secret) return secret;
  if (!file) throw new TypeError('Set CHARGING_DATA_CLIENT_SECRET or CHARGING_DATA_CLIENT_SECRET_FILE.');
  try {
    return readFileSync(file, 'utf8').trimEnd();
  } catch (error) {
    throw new TypeError(`CHARGING_DATA_CLIENT_SECRET_FILE: ${(error as Error).message}`, { cause: error });
  }
}
