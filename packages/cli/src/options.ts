import { parseArgs } from 'node:util';
import { newSigningSecret, signingKeyOf } from './signature.js';

export const HELP = `charging-data listen --forward <url>

Receives the events of a client of the Charging Data Service and posts each, signed, to an address on this machine.

  --forward <url>           where to post the events, such as http://localhost:4000/hooks
  --url <url>               the service            (or CHARGING_DATA_URL)
  --client-id <id>          the client             (or CHARGING_DATA_CLIENT_ID)
  --client-secret <secret>  its secret             (or CHARGING_DATA_CLIENT_SECRET, which other users of this machine cannot see)
  --signing-secret <whsec>  signs what is posted   (or CHARGING_DATA_SIGNING_SECRET; a new one is printed if none is given)
  --help
`;

/** What to do, from the arguments and the environment. */
export interface ListenOptions {
  /** The origin of the service. */
  url: string;
  clientId: string;
  clientSecret: string;
  forward: string;
  signingSecret: string;
  /** Whether the signing secret is new, and so has to be printed. */
  isNewSecret: boolean;
}

/** A mistake in the arguments or the environment; its message never contains a value of a secret. */
export class UsageError extends Error {}

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** Reads the arguments; undefined if help is wanted. Throws a UsageError. */
export function readOptions(args: string[], env: NodeJS.ProcessEnv): ListenOptions | undefined {
  const { values, positionals } = parse(args);
  if (values.help) return undefined;
  if (positionals.length !== 1 || positionals[0] !== 'listen') {
    throw new UsageError('The only command is "listen": charging-data listen --forward <url>');
  }
  const given = (flag: keyof typeof values & string, variable: string): string => {
    const value = (values[flag] as string | undefined) ?? env[variable];
    if (value === undefined || value === '') throw new UsageError(`Give --${flag} or set ${variable}.`);
    return value;
  };
  if (!values.forward) throw new UsageError('Give --forward: the address to post the events to.');
  const url = urlOf('--url (CHARGING_DATA_URL)', given('url', 'CHARGING_DATA_URL'));
  if (url.protocol !== 'https:' && !LOOPBACK.test(url.hostname)) {
    throw new UsageError('--url (CHARGING_DATA_URL) must be https, except on this machine.');
  }
  const signingSecret = values['signing-secret'] ?? env.CHARGING_DATA_SIGNING_SECRET;
  if (signingSecret !== undefined && signingKeyOf(signingSecret) === undefined) {
    throw new UsageError('--signing-secret must be whsec_ and 24 to 64 bytes in base64.');
  }
  return {
    url: url.origin,
    clientId: given('client-id', 'CHARGING_DATA_CLIENT_ID'),
    clientSecret: given('client-secret', 'CHARGING_DATA_CLIENT_SECRET'),
    forward: urlOf('--forward', values.forward).href,
    signingSecret: signingSecret ?? newSigningSecret(),
    isNewSecret: signingSecret === undefined,
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
        url: text,
        'client-id': text,
        'client-secret': text,
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
