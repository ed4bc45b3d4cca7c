import { createHash, randomBytes } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { nameOf } from '#events/sandbox/generator/vehicle.js';
import { makeEndpointSecret } from '#events/webhooks/signing/sign-delivery.js';
import { newId, newUlid } from '#platform/secrets/ids.js';
import { newSecret } from '#platform/secrets/tokens.js';

/** Someone who can log in. */
export interface DemoUser {
  id: string;
  email: string;
  name: string;
  password: string;
}

/**
 * The users and clients of the demonstration. Generated at the first start and stored in DATA_DIR, to be printed at every start.
 */
export interface DemoCredentials {
  organisation: DemoUser;
  /** A member of the organisation, with the role developer. */
  developer: DemoUser;
  driver: DemoUser;
  sharingDriver: DemoUser;
  operator: DemoUser;
  /** Operators with the roles support and viewer. */
  supportOperator: DemoUser;
  viewerOperator: DemoUser;
  partnerClient: { id: string; secret: string };
  /** In the sandbox of the organisation, with one driver. */
  sandboxClient: { id: string; secret: string };
  sandboxDriver: { id: string; email: string; name: string; seed: number };
  /** Where the demonstration receives the events of its sandbox. */
  sandboxEndpoint: { id: string; secret: string };
  appClient: { id: string; codeVerifier: string; codeChallenge: string };
  operatorClient: { id: string; secret: string };
}

/**
 * Reads the demonstration's credentials from `<dataDir>/demo-credentials.json` (mode 0600), and generates those that are not there yet.
 */
export async function loadDemoCredentials(dataDir: string): Promise<DemoCredentials> {
  const file = path.join(dataDir, 'demo-credentials.json');
  let stored: Partial<DemoCredentials> = {};
  try {
    stored = JSON.parse(await readFile(file, 'utf8')) as Partial<DemoCredentials>;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  const made = { ...makeCredentials(), ...stored };
  if (Object.keys(made).every((name) => name in stored)) return made;
  await writeFile(`${file}.new`, `${JSON.stringify(made, null, 2)}\n`, { mode: 0o600 });
  await rename(`${file}.new`, file);
  return made;
}

function makeCredentials(): DemoCredentials {
  const codeVerifier = randomBytes(32).toString('base64url');
  return {
    organisation: user('energy@demo.example', 'Northwind Energy'),
    developer: user('developer@demo.example', 'Dana Developer'),
    driver: user('driver@demo.example', 'Ada Driver'),
    sharingDriver: user('sharing@demo.example', 'Linus Sharing'),
    operator: user('operator@demo.example', 'Olga Operator'),
    supportOperator: user('support@demo.example', 'Sami Support'),
    viewerOperator: user('viewer@demo.example', 'Vera Viewer'),
    partnerClient: { id: newId('clnt'), secret: newSecret('clientSecret') },
    sandboxClient: { id: newId('clnt'), secret: newSecret('clientSecret') },
    sandboxDriver: sandboxDriver(4711),
    sandboxEndpoint: { id: newId('endp'), secret: makeEndpointSecret() },
    appClient: {
      id: newId('clnt'),
      codeVerifier,
      codeChallenge: createHash('sha256').update(codeVerifier).digest('base64url'),
    },
    operatorClient: { id: newId('clnt'), secret: newSecret('clientSecret') },
  };
}

const sandboxDriver = (seed: number) => ({
  id: newId('user'),
  email: `${newUlid().toLowerCase()}@sandbox.invalid`,
  name: nameOf(seed),
  seed,
});

const user = (email: string, name: string): DemoUser => ({
  id: newId('user'),
  email,
  name,
  password: randomBytes(12).toString('base64url'),
});
