import { In, type DataSource, type EntityManager } from 'typeorm';
import { ClientEntity } from '#access/clients/client.entity.js';
import { hashPassword } from '#platform/secrets/passwords.js';
import { HOUR_MS } from '#platform/config/durations.js';
import type { Settings } from '#platform/config/settings.js';
import { OPERATOR_SCOPES, PARTNER_SCOPES } from '#access/scopes/scope.entity.js';
import { newId } from '#platform/secrets/ids.js';
import { SealedBox } from '#platform/secrets/sealed-box.js';
import { digestOf, newSecret } from '#platform/secrets/tokens.js';
import { realmOf, type Environment } from '#access/users/accounts/environment.js';
import { emailKeyOf } from '#access/users/accounts/email.js';
import { UserEntity } from '#access/users/accounts/user.entity.js';
import type { DemoCredentials, DemoUser } from './demo-credentials.js';
import { DEMO_PROVIDER_ID, IDENTITY_PATH } from './identity/demo-identity-provider.js';
import { receiverUrl } from './demo-receiver.routes.js';
import { insertRequests, PLANNER, SMART_CHARGING, type DemoProgram } from './demo-requests.js';
import { seedTraffic, SERVICE_EVENT_TYPES, TRAFFIC_HOURS } from './demo-traffic.js';

/** Drivers who cannot log in; they only fill the lists. */
const DRIVERS = [
  ...['Amina Okafor', 'Bram de Vries', 'Chiara Conti', 'Dmitri Petrov', 'Elif Yılmaz', 'Femke Janssen'],
  ...['Gustav Lindqvist', 'Hana Novák', 'Iker Etxeberria', 'Jasmine Thornton-Whitfield', 'Kofi Mensah'],
];

/** When a partner's old secret ended: its program has been refused since. */
const SECRET_EXPIRED_HOURS_AGO = 19;

type Roles = Partial<Pick<UserEntity, 'kind' | 'operatorRole'>>;

/** The redirect URI of the demonstration's clients: a page of the service itself that shows what it received. */
export const demoRedirectUri = (baseUrl: string): string => `${baseUrl}/demo/callback`;

/**
 * Inserts the data of the demonstration. Existing data is kept, except for the redirect URI, which follows the port. What a start
 * prints credentials for is added again; the rest only once. Returns the addresses that someone else has by now, whose users are
 * left out.
 */
export async function seedDemonstration(
  dataSource: DataSource,
  demo: DemoCredentials,
  settings: Settings,
): Promise<string[]> {
  return dataSource.transaction(async (manager) => {
    const isFirst = !(await hasAny(manager, demo));
    const taken: string[] = [];
    const add = async (user: DemoUser, roles?: Roles): Promise<boolean> => {
      const isThere = await addUser(manager, user, roles);
      if (!isThere) taken.push(user.email);
      return isThere;
    };
    const organisation = await add(demo.organisation, { kind: 'organisation' });
    for (const user of [demo.developer, demo.driver, demo.sharingDriver]) await add(user);
    const operator = await add(demo.operator, { operatorRole: 'admin' });
    await add(demo.supportOperator, { operatorRole: 'support' });
    await add(demo.viewerOperator, { operatorRole: 'viewer' });
    // The issuer of the demonstration's own provider follows the port.
    await manager.query('DELETE FROM identities WHERE provider = $1 AND issuer <> $2', [
      DEMO_PROVIDER_ID,
      `${settings.baseUrl}${IDENTITY_PATH}`,
    ]);
    if (organisation) await addPartner(manager, demo, settings);
    if (operator) await addOperatorClient(manager, demo);
    if (isFirst && organisation) await addPast(manager, demo, settings);
    return taken;
  });
}

/**
 * Whether an earlier start added its data: anything of it counts. Someone may have deleted the rest, but never all of it, because
 * each start adds again what is missing.
 */
async function hasAny(manager: EntityManager, demo: DemoCredentials): Promise<boolean> {
  const id = In(Object.values<{ id: string }>({ ...demo }).map((one) => one.id));
  return (await manager.existsBy(UserEntity, { id })) || (await manager.existsBy(ClientEntity, { id }));
}

/** The clients of the organisation, its developer, and who shares data with it. */
async function addPartner(manager: EntityManager, demo: DemoCredentials, settings: Settings): Promise<void> {
  const { baseUrl } = settings;
  // The second is that of “Authorize” in the API reference, which is the address of its page.
  const redirectUris = [demoRedirectUri(baseUrl), `${baseUrl}/docs`];
  const ownerId = demo.organisation.id;
  await manager.query(
    `INSERT INTO organisation_members (organisation_id, user_id, role)
     SELECT $1, id, 'developer' FROM users WHERE id = $2 ON CONFLICT DO NOTHING`,
    [ownerId, demo.developer.id],
  );
  const partner: Parameters<typeof addClient>[2] = {
    name: 'Northwind Smart Charging',
    type: 'confidential',
    grantTypes: ['authorization_code', 'client_credentials'],
    scopes: [...PARTNER_SCOPES],
    redirectUris,
    ownerId,
  };
  await addClient(manager, demo.partnerClient, partner);
  await addClient(manager, demo.appClient, {
    name: 'Northwind Driver App',
    type: 'public',
    grantTypes: ['authorization_code'],
    scopes: [...PARTNER_SCOPES],
    redirectUris,
    ownerId,
  });
  const isNew = await addClient(manager, demo.sandboxClient, { ...partner, environment: 'sandbox' });
  // With the client: someone may have deleted only the driver since.
  if (isNew) await addSandboxDriver(manager, demo);
  await addSandboxEndpoint(manager, demo, settings);
  await manager.query(
    `INSERT INTO consents (client_id, user_id, scopes, evidence)
     SELECT $1, id, $3, 'Part of the demonstration' FROM users WHERE id = $2 ON CONFLICT DO NOTHING`,
    [demo.partnerClient.id, demo.sharingDriver.id, ['charging_session:read']],
  );
}

/** The endpoint of the sandbox, whose URL follows the port. */
async function addSandboxEndpoint(
  manager: EntityManager,
  { sandboxClient, sandboxEndpoint: { id, secret }, organisation }: DemoCredentials,
  settings: Settings,
): Promise<void> {
  await manager.query(
    `INSERT INTO webhook_endpoints (id, client_id, url, description, event_types, sealed_secret, realm)
     VALUES ($1, $2, $3, 'Checks the signature, in this demonstration', $4, $5, $6)
     ON CONFLICT (id) DO UPDATE SET url = excluded.url`,
    [
      id,
      sandboxClient.id,
      receiverUrl(settings),
      SERVICE_EVENT_TYPES,
      new SealedBox('webhook endpoint secret', settings.encryptionKeys).seal(secret, id),
      organisation.id,
    ],
  );
}

async function addOperatorClient(manager: EntityManager, demo: DemoCredentials): Promise<void> {
  await addClient(manager, demo.operatorClient, {
    name: 'Demo operator',
    type: 'confidential',
    grantTypes: ['client_credentials'],
    scopes: OPERATOR_SCOPES,
    redirectUris: [],
    ownerId: demo.operator.id,
  });
}

/** What fills the lists and charts: it looks as if the service had been used for some time. */
async function addPast(
  manager: EntityManager,
  demo: DemoCredentials,
  { encryptionKeys, webhookRetrySchedule }: Settings,
): Promise<void> {
  await askForRedirectUri(manager, demo);
  const drivers = await addDrivers(manager, demo);
  if (drivers.length === 0) return;
  const neighbours = await addNeighbours(manager, demo, drivers);
  const events = await seedTraffic(manager, {
    clientId: demo.partnerClient.id,
    drivers,
    encryptionKeys,
    retrySchedule: webhookRetrySchedule,
  });
  const programs = [{ clientId: demo.partnerClient.id, kinds: SMART_CHARGING }, ...neighbours];
  await insertRequests(manager, programs, { events, hours: TRAFFIC_HOURS });
  // All that the past is about was there before it.
  const old = "created_at = now() - interval '45 days' WHERE created_at = now()";
  await manager.query(`UPDATE clients SET ${old}`);
  await manager.query(`UPDATE users SET ${old}`);
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
     VALUES ($1, $2, $2, $3, 'individual', 'user', 'sandbox', $4, $4) ON CONFLICT DO NOTHING`,
    [id, email, name, organisation.id],
  );
  await manager.query(
    'INSERT INTO sandbox_drivers (user_id, owner_id, seed) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING',
    [id, organisation.id, seed],
  );
  await manager.query('INSERT INTO consents (client_id, user_id, scopes, realm) VALUES ($1, $2, $3, $4)', [
    sandboxClient.id,
    id,
    PARTNER_SCOPES,
    organisation.id,
  ]);
}

/** The drivers, each of whom shares data with the partner. Addresses that are taken are left out. */
async function addDrivers(manager: EntityManager, demo: DemoCredentials): Promise<string[]> {
  const emails = DRIVERS.map((_name, n) => `driver${n + 2}@demo.example`);
  const added: { id: string }[] = await manager.query(
    `INSERT INTO users (id, email, email_key, name, kind, role, created_at, email_verified_at)
     SELECT id, email, email, name, 'individual', 'user', now() - make_interval(days => 40 - n::int), now()
       FROM unnest($1::text[], $2::text[], $3::text[]) WITH ORDINALITY AS d (id, email, name, n)
     ON CONFLICT (email_key) DO NOTHING RETURNING id`,
    [DRIVERS.map(() => newId('user')), emails, DRIVERS],
  );
  const ids = added.map(({ id }) => id);
  await manager.query(
    `INSERT INTO consents (client_id, user_id, scopes, granted_at)
     SELECT $1, id, $3, now() - make_interval(days => 30 - 2 * n::int)
       FROM unnest($2::text[]) WITH ORDINALITY AS d (id, n)`,
    [demo.partnerClient.id, ids, PARTNER_SCOPES],
  );
  return ids;
}

/** A disabled client, and two other partners, one of whom forgot to put its new secret into its program. */
async function addNeighbours(
  manager: EntityManager,
  demo: DemoCredentials,
  drivers: string[],
): Promise<DemoProgram[]> {
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
  const planner = await addNeighbour(manager, {
    email: 'fleet@demo.example',
    organisation: 'Harbour Fleet Services',
    client: 'Harbour Fleet Planner',
    scopes: ['vehicle:read'],
    drivers: drivers.slice(0, 5),
  });
  const comparison = await addNeighbour(manager, {
    email: 'tariffs@demo.example',
    organisation: 'Meridian Tariffs',
    client: 'Meridian Tariff Comparison',
    scopes: ['charging_session:read'],
    drivers: drivers.slice(5, 9),
  });
  const expiredAt = new Date(Date.now() - SECRET_EXPIRED_HOURS_AGO * HOUR_MS);
  if (comparison) {
    await manager.query(
      `INSERT INTO client_secrets (client_id, digest, created_at, expires_at) VALUES ($1, $2, now() - interval '30 days', $3)`,
      [comparison, digestOf(newSecret('clientSecret')), expiredAt],
    );
  }
  return [
    ...(planner ? [{ clientId: planner, kinds: PLANNER }] : []),
    ...(comparison ? [{ clientId: comparison, kinds: PLANNER, expiredAt }] : []),
  ];
}

interface Neighbour {
  email: string;
  organisation: string;
  client: string;
  scopes: string[];
  /** Who shares data with it; the fourth of them no longer. */
  drivers: string[];
}

/** Another partner with its client, whose id is returned; undefined if someone else has the address. */
async function addNeighbour(
  manager: EntityManager,
  { email, organisation, client, scopes, drivers }: Neighbour,
): Promise<string | undefined> {
  const [owner]: { id: string }[] = await manager.query(
    `INSERT INTO users (id, email, email_key, name, kind, role) VALUES ($1, $2, $2, $3, 'organisation', 'user')
     ON CONFLICT (email_key) DO NOTHING RETURNING id`,
    [newId('user'), email, organisation],
  );
  if (!owner) return undefined;
  const id = newId('clnt');
  await addClient(
    manager,
    { id, secret: newSecret('clientSecret') },
    {
      name: client,
      type: 'confidential',
      grantTypes: ['client_credentials'],
      scopes,
      redirectUris: [],
      ownerId: owner.id,
    },
  );
  await manager.query(
    `INSERT INTO consents (client_id, user_id, scopes, granted_at, evidence, revoked_at)
     SELECT $1, id, $3, now() - interval '20 days', 'Framework agreement with the driver, § 4',
            CASE WHEN n = 4 THEN now() - interval '2 days' END
       FROM unnest($2::text[]) WITH ORDINALITY AS d (id, n)`,
    [id, drivers, scopes],
  );
  return id;
}

/** Returns whether the user is there: not if someone else has the address. */
async function addUser(
  manager: EntityManager,
  user: DemoUser,
  { kind = 'individual', operatorRole = null }: Roles = {},
): Promise<boolean> {
  if (await manager.existsBy(UserEntity, { id: user.id })) return true;
  const emailKey = emailKeyOf(user.email);
  if (await manager.existsBy(UserEntity, { emailKey })) return false;
  await manager.insert(UserEntity, {
    id: user.id,
    email: user.email,
    emailKey,
    name: user.name,
    kind,
    role: operatorRole ? 'operator' : 'user',
    operatorRole,
    passwordHash: await hashPassword(user.password),
    emailVerifiedAt: () => 'now()',
    webhooksEnabled: true,
    enabled: true,
  });
  return true;
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
  const rest = { environment, realm, enabled: true, rateLimit: null, companyService: false };
  await manager.insert(ClientEntity, { ...client, id, ...rest });
  if (secret === undefined) return true;
  await manager.query('INSERT INTO client_secrets (client_id, digest) VALUES ($1, $2)', [
    id,
    digestOf(secret),
  ]);
  return true;
}
