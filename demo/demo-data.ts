import type { DataSource, EntityManager } from 'typeorm';
import { ClientEntity } from '../src/clients/client.entity.js';
import { hashPassword } from '../src/secrets/passwords.js';
import type { Settings } from '../src/config/settings.js';
import { OPERATOR_SCOPES, PARTNER_SCOPES } from '../src/scopes/scope.entity.js';
import { newId } from '../src/secrets/ids.js';
import { digestOf, newSecret } from '../src/secrets/tokens.js';
import { realmOf, type Environment } from '../src/users/accounts/environment.js';
import { emailKeyOf } from '../src/users/accounts/email.js';
import { UserEntity } from '../src/users/accounts/user.entity.js';
import type { DemoCredentials } from './demo-credentials.js';
import { DEMO_PROVIDER_ID, IDENTITY_PATH } from './identity/demo-identity-provider.js';
import { seedTraffic } from './demo-traffic.js';

/** Drivers who cannot log in; they only fill the lists. */
const DRIVERS = [
  ...['Amina Okafor', 'Bram de Vries', 'Chiara Conti', 'Dmitri Petrov', 'Elif Yılmaz', 'Femke Janssen'],
  ...['Gustav Lindqvist', 'Hana Novák', 'Iker Etxeberria', 'Jasmine Thornton-Whitfield', 'Kofi Mensah'],
];

/** The redirect URI of the demonstration's clients: a page of the service itself that shows what it received. */
export const demoRedirectUri = (baseUrl: string): string => `${baseUrl}/demo/callback`;

/** Inserts the data of the demonstration. Existing data is kept, except for the redirect URI, which follows the port. */
export async function seedDemonstration(
  dataSource: DataSource,
  demo: DemoCredentials,
  { baseUrl, encryptionKey, webhookRetrySchedule }: Settings,
): Promise<void> {
  await dataSource.transaction(async (manager) => {
    await addUser(manager, demo.organisation, { kind: 'organisation' });
    await addUser(manager, demo.developer);
    await manager.query(
      `INSERT INTO organisation_members (organisation_id, user_id, role) VALUES ($1, $2, 'developer') ON CONFLICT DO NOTHING`,
      [demo.organisation.id, demo.developer.id],
    );
    await addUser(manager, demo.driver);
    await addUser(manager, demo.sharingDriver);
    await addUser(manager, demo.operator, { operatorRole: 'admin' });
    await addUser(manager, demo.supportOperator, { operatorRole: 'support' });
    await addUser(manager, demo.viewerOperator, { operatorRole: 'viewer' });
    // The issuer of the demonstration's own provider follows the port.
    await manager.query('DELETE FROM identities WHERE provider = $1 AND issuer <> $2', [
      DEMO_PROVIDER_ID,
      `${baseUrl}${IDENTITY_PATH}`,
    ]);
    const redirectUris = [demoRedirectUri(baseUrl)];
    const ownerId = demo.organisation.id;
    await addClient(manager, demo.partnerClient, {
      name: 'Northwind Smart Charging',
      type: 'confidential',
      grantTypes: ['authorization_code', 'client_credentials'],
      scopes: [...PARTNER_SCOPES],
      redirectUris,
      ownerId,
    });
    await addClient(manager, demo.appClient, {
      name: 'Northwind Driver App',
      type: 'public',
      grantTypes: ['authorization_code'],
      scopes: [...PARTNER_SCOPES],
      redirectUris,
      ownerId,
    });
    const isNew = await addClient(manager, demo.sandboxClient, {
      name: 'Northwind Smart Charging',
      type: 'confidential',
      grantTypes: ['authorization_code', 'client_credentials'],
      scopes: [...PARTNER_SCOPES],
      redirectUris,
      ownerId,
      environment: 'sandbox',
    });
    // Once: somebody may have deleted the driver since.
    if (isNew) await addSandboxDriver(manager, demo);
    await addClient(manager, demo.operatorClient, {
      name: 'Demo operator',
      type: 'confidential',
      grantTypes: ['client_credentials'],
      scopes: OPERATOR_SCOPES,
      redirectUris: [],
      ownerId: demo.operator.id,
    });
    await manager.query(
      `INSERT INTO consents (client_id, user_id, scopes, evidence) VALUES ($1, $2, $3, 'Part of the demonstration')
       ON CONFLICT DO NOTHING`,
      [demo.partnerClient.id, demo.sharingDriver.id, ['charging_session:read']],
    );
    const seeded: unknown[] = await manager.query('SELECT 1 FROM webhook_endpoints LIMIT 1');
    if (seeded.length > 0) return;
    await askForRedirectUri(manager, demo);
    const drivers = await addDrivers(manager, demo);
    await addNeighbours(manager, demo, drivers);
    await seedTraffic(manager, {
      clientId: demo.partnerClient.id,
      drivers,
      encryptionKey,
      retrySchedule: webhookRetrySchedule,
    });
  });
}

/** A redirect URI that waits for the operator. */
async function askForRedirectUri(manager: EntityManager, demo: DemoCredentials): Promise<void> {
  await manager.query(
    `INSERT INTO redirect_uri_requests (id, client_id, action, uri, requested_by) VALUES ($1, $2, 'add', $3, $4)`,
    [
      newId('ruri'),
      demo.partnerClient.id,
      'https://app.northwind.example/charging/callback',
      demo.organisation.id,
    ],
  );
}

/** A driver who is invented, and shares data with the client in the sandbox. */
async function addSandboxDriver(
  manager: EntityManager,
  { sandboxDriver: { id, email, name, seed }, sandboxClient, organisation }: DemoCredentials,
): Promise<void> {
  await manager.query(
    `INSERT INTO users (id, email, email_key, name, kind, role, environment, realm, sandbox_owner_id)
     VALUES ($1, $2, $2, $3, 'individual', 'user', 'sandbox', $4, $4)`,
    [id, email, name, organisation.id],
  );
  await manager.query('INSERT INTO sandbox_drivers (user_id, owner_id, seed) VALUES ($1, $2, $3)', [
    id,
    organisation.id,
    seed,
  ]);
  await manager.query('INSERT INTO consents (client_id, user_id, scopes, realm) VALUES ($1, $2, $3, $4)', [
    sandboxClient.id,
    id,
    PARTNER_SCOPES,
    organisation.id,
  ]);
}

/** The drivers, each of whom shares data with the partner. */
async function addDrivers(manager: EntityManager, demo: DemoCredentials): Promise<string[]> {
  const ids = DRIVERS.map(() => newId('user'));
  const emails = DRIVERS.map((_name, n) => `driver${n + 2}@demo.example`);
  await manager.query(
    `INSERT INTO users (id, email, email_key, name, kind, role, created_at, email_verified_at)
     SELECT id, email, email, name, 'individual', 'user', now() - make_interval(days => 40 - n::int), now()
       FROM unnest($1::text[], $2::text[], $3::text[]) WITH ORDINALITY AS d (id, email, name, n)`,
    [ids, emails, DRIVERS],
  );
  await manager.query(
    `INSERT INTO consents (client_id, user_id, scopes, granted_at)
     SELECT $1, id, $3, now() - make_interval(days => 30 - 2 * n::int)
       FROM unnest($2::text[]) WITH ORDINALITY AS d (id, n)`,
    [demo.partnerClient.id, ids, PARTNER_SCOPES],
  );
  return ids;
}

/** Another partner with its own client, and a disabled client. */
async function addNeighbours(
  manager: EntityManager,
  demo: DemoCredentials,
  drivers: string[],
): Promise<void> {
  const fleet = { id: newId('user'), email: 'fleet@demo.example', name: 'Harbour Fleet Services' };
  await manager.query(
    `INSERT INTO users (id, email, email_key, name, kind, role) VALUES ($1, $2, $2, $3, 'organisation', 'user')`,
    [fleet.id, fleet.email, fleet.name],
  );
  const planner = newId('clnt');
  await addClient(
    manager,
    { id: planner, secret: newSecret('clientSecret') },
    {
      name: 'Harbour Fleet Planner',
      type: 'confidential',
      grantTypes: ['client_credentials'],
      scopes: ['vehicle:read'],
      redirectUris: [],
      ownerId: fleet.id,
    },
  );
  const retired = newId('clnt');
  await addClient(
    manager,
    { id: retired },
    {
      name: 'Northwind Pilot 2024',
      type: 'public',
      grantTypes: ['authorization_code'],
      scopes: ['charging_session:read'],
      redirectUris: ['https://pilot.northwind.example/callback'],
      ownerId: demo.organisation.id,
    },
  );
  await manager.update(ClientEntity, { id: retired }, { enabled: false });
  await manager.query(
    `INSERT INTO consents (client_id, user_id, scopes, granted_at, evidence, revoked_at)
     SELECT $1, id, $3, now() - interval '20 days', 'Framework agreement with the driver, § 4',
            CASE WHEN n = 4 THEN now() - interval '2 days' END
       FROM unnest($2::text[]) WITH ORDINALITY AS d (id, n)`,
    [planner, drivers.slice(0, 5), ['vehicle:read']],
  );
}

async function addUser(
  manager: EntityManager,
  user: { id: string; email: string; name: string; password: string },
  { kind = 'individual', operatorRole = null }: Partial<Pick<UserEntity, 'kind' | 'operatorRole'>> = {},
): Promise<void> {
  if (await manager.existsBy(UserEntity, { id: user.id })) return;
  await manager.insert(UserEntity, {
    id: user.id,
    email: user.email,
    emailKey: emailKeyOf(user.email),
    name: user.name,
    kind,
    role: operatorRole ? 'operator' : 'user',
    operatorRole,
    passwordHash: await hashPassword(user.password),
    emailVerifiedAt: () => 'now()',
    webhooksEnabled: true,
    enabled: true,
  });
}

/** Returns whether it is new. */
async function addClient(
  manager: EntityManager,
  { id, secret }: { id: string; secret?: string },
  client: Pick<ClientEntity, 'name' | 'type' | 'grantTypes' | 'scopes' | 'redirectUris' | 'ownerId'> & {
    environment?: Environment;
  },
): Promise<boolean> {
  if (await manager.existsBy(ClientEntity, { id })) {
    await manager.update(ClientEntity, { id }, { redirectUris: client.redirectUris });
    return false;
  }
  const { environment = 'live', ownerId } = client;
  const realm = realmOf({ environment, ownerId });
  const rest = { environment, realm, enabled: true, rateLimit: null, trusted: false };
  await manager.insert(ClientEntity, { ...client, id, ...rest });
  if (secret === undefined) return true;
  await manager.query('INSERT INTO client_secrets (client_id, digest) VALUES ($1, $2)', [
    id,
    digestOf(secret),
  ]);
  return true;
}
