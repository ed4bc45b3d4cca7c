import { parseArgs } from 'node:util';
import { newSigningSecret, signingKeyOf } from './signature.js';

export const HELP = `charging-data listen --forward <url>
charging-data forward --to <url> --cursor <file>

Receives the events of a client of the Charging Data Service. "listen" is for developing: it posts what happens from now on, each event once,
signed, to an address on this machine. "forward" is for programs: it passes every event on at least once, in order, and goes on where it was.

  --forward <url>           listen: where to post the events, such as http://localhost:4000/hooks
  --to <url>                forward: where to post the events until each is answered with a 2xx; - writes them to standard output, one a line
  --cursor <file>           forward: keeps how far it is
  --from <latest|oldest>    forward: where to begin without a cursor: with what happens from now on (the default), or all that is kept
  --url <url>               the service            (or CHARGING_DATA_URL)
  --client-id <id>          the client             (or CHARGING_DATA_CLIENT_ID)
  --client-secret <secret>  its secret             (or CHARGING_DATA_CLIENT_SECRET, which other users of this machine cannot see)
  --dpop-key <file>         binds tokens to the key in this file, which is made if there is none (or CHARGING_DATA_DPOP_KEY)
  --signing-secret <whsec>  signs what is posted   (or CHARGING_DATA_SIGNING_SECRET; listen prints a new one if none is given)
  --help
`;

/** How the service is asked. */
export interface ServiceOptions {
  /** The origin of the service. */
  url: string;
  clientId: string;
  clientSecret: string;
  /** The file with the key to which tokens are bound. */
  dpopKey: string | undefined;
}

/** What `listen` is to do. */
export interface ListenOptions extends ServiceOptions {
  command: 'listen';
  forward: string;
  signingSecret: string;
  /** Whether the signing secret is new, and so has to be printed. */
  isNewSecret: boolean;
}

/** What `forward` is to do. */
export interface ForwardOptions extends ServiceOptions {
  command: 'forward';
  /** Undefined for standard output. */
  to: string | undefined;
  cursor: string;
  from: 'latest' | 'oldest';
  signingSecret: string | undefined;
}

/** A mistake in the arguments or the environment; its message never contains a value of a secret. */
export class UsageError extends Error {}

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

const FLAGS = {
  listen: ['forward', 'signing-secret'],
  forward: ['to', 'cursor', 'from', 'signing-secret'],
};
const COMMON = ['url', 'client-id', 'client-secret', 'dpop-key'];

/** Reads the arguments and the environment; undefined if help is wanted. Throws a UsageError. */
export function readOptions(
  args: string[],
  env: NodeJS.ProcessEnv,
): ListenOptions | ForwardOptions | undefined {
  const { values, positionals } = parse(args);
  if (values.help) return undefined;
  const [command] = positionals;
  if (positionals.length !== 1 || (command !== 'listen' && command !== 'forward')) {
    throw new UsageError('The commands are "listen" and "forward": charging-data listen --forward <url>');
  }
  const stray = Object.keys(values).find((flag) => ![...COMMON, ...FLAGS[command]].includes(flag));
  if (stray !== undefined) throw new UsageError(`"${command}" takes no --${stray}.`);
  const signingSecret = values['signing-secret'] ?? env.CHARGING_DATA_SIGNING_SECRET;
  if (signingSecret !== undefined && signingKeyOf(signingSecret) === undefined) {
    throw new UsageError('--signing-secret must be whsec_ and 24 to 64 bytes in base64.');
  }
  if (command === 'listen') {
    if (!values.forward) throw new UsageError('Give --forward: the address to post the events to.');
    return {
      command,
      ...serviceOptions(values, env),
      forward: urlOf('--forward', values.forward).href,
      signingSecret: signingSecret ?? newSigningSecret(),
      isNewSecret: signingSecret === undefined,
    };
  }
  const { to, cursor, from = 'latest' } = values;
  if (!to) throw new UsageError('Give --to: the address to post the events to, or - for standard output.');
  if (!cursor) throw new UsageError('Give --cursor: the file that keeps how far it is.');
  if (from !== 'latest' && from !== 'oldest') throw new UsageError('--from must be latest or oldest.');
  return {
    command,
    ...serviceOptions(values, env),
    ...{ to: to === '-' ? undefined : urlOf('--to', to).href, cursor, from, signingSecret },
  };
}

function serviceOptions(values: ReturnType<typeof parse>['values'], env: NodeJS.ProcessEnv): ServiceOptions {
  const given = (flag: 'url' | 'client-id' | 'client-secret', variable: string): string => {
    const value = values[flag] ?? env[variable];
    if (value === undefined || value === '') throw new UsageError(`Give --${flag} or set ${variable}.`);
    return value;
  };
  const url = urlOf('--url (CHARGING_DATA_URL)', given('url', 'CHARGING_DATA_URL'));
  if (url.protocol !== 'https:' && !LOOPBACK.test(url.hostname)) {
    throw new UsageError('--url (CHARGING_DATA_URL) must be https, except on this machine.');
  }
  return {
    url: url.origin,
    clientId: given('client-id', 'CHARGING_DATA_CLIENT_ID'),
    clientSecret: given('client-secret', 'CHARGING_DATA_CLIENT_SECRET'),
    dpopKey: (values['dpop-key'] ?? env.CHARGING_DATA_DPOP_KEY) || undefined,
  };
}

function parse(args: string[]) {
  const text = { type: 'string' } as const;
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: {
        forward: text,
        to: text,
        cursor: text,
        from: text,
        url: text,
        'client-id': text,
        'client-secret': text,
        'dpop-key': text,
        'signing-secret': text,
        help: { type: 'boolean', short: 'h' },
      },
    });
  } catch (error) {
    throw new UsageError((error as Error).message.split('\n')[0]);
  }
}

function urlOf(name: string, text: string): URL {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw new UsageError(`${name} must be a URL.`);
  }
  if (!/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') {
    throw new UsageError(`${name} must be an http or https URL without credentials.`);
  }
  return url;
}
