import type { DataSource, EntityManager } from 'typeorm';
import { ClientEntity } from '../clients/client.entity.js';
import { hashPassword } from '../secrets/passwords.js';
import { OPERATOR_SCOPES } from '../scopes/scope.entity.js';
import { digestOf } from '../secrets/tokens.js';
import { emailKeyOf } from '../users/email.js';
import { UserEntity } from '../users/user.entity.js';
import type { DemoCredentials } from './demo-credentials.js';

const PARTNER_SCOPES = ['charging_session:read', 'vehicle:read'];

/** Where the demonstration's clients are sent back to: a page of the service itself that shows what came. */
export const demoRedirectUri = (baseUrl: string): string => `${baseUrl}/demo/callback`;

/** Puts the demonstration into the database; what is there already stays, apart from the redirect URI, which follows the port. */
export async function seedDemonstration(
  dataSource: DataSource,
  demo: DemoCredentials,
  baseUrl: string,
): Promise<void> {
  await dataSource.transaction(async (manager) => {
    await addUser(manager, demo.organisation, { kind: 'organisation' });
    await addUser(manager, demo.driver);
    await addUser(manager, demo.sharingDriver);
    await addUser(manager, demo.operator, { role: 'operator' });
    const redirectUris = [demoRedirectUri(baseUrl)];
    const ownerId = demo.organisation.id;
    await addClient(manager, demo.partnerClient, {
      name: 'Northwind Smart Charging',
      type: 'confidential',
      grantTypes: ['authorization_code', 'client_credentials'],
      scopes: PARTNER_SCOPES,
      redirectUris,
      ownerId,
    });
    await addClient(manager, demo.appClient, {
      name: 'Northwind Driver App',
      type: 'public',
      grantTypes: ['authorization_code'],
      scopes: PARTNER_SCOPES,
      redirectUris,
      ownerId,
    });
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
  });
}

async function addUser(
  manager: EntityManager,
  user: { id: string; email: string; name: string; password: string },
  { kind = 'individual', role = 'user' }: { kind?: UserEntity['kind']; role?: UserEntity['role'] } = {},
): Promise<void> {
  if (await manager.existsBy(UserEntity, { id: user.id })) return;
  await manager.insert(UserEntity, {
    id: user.id,
    email: user.email,
    emailKey: emailKeyOf(user.email),
    name: user.name,
    kind,
    role,
    passwordHash: await hashPassword(user.password),
    webhooksEnabled: true,
    enabled: true,
  });
}

async function addClient(
  manager: EntityManager,
  { id, secret }: { id: string; secret?: string },
  client: Pick<ClientEntity, 'name' | 'type' | 'grantTypes' | 'scopes' | 'redirectUris' | 'ownerId'>,
): Promise<void> {
  if (await manager.existsBy(ClientEntity, { id })) {
    await manager.update(ClientEntity, { id }, { redirectUris: client.redirectUris });
    return;
  }
  await manager.insert(ClientEntity, { ...client, id, enabled: true, rateLimit: null, trusted: false });
  if (secret === undefined) return;
  await manager.query('INSERT INTO client_secrets (client_id, digest) VALUES ($1, $2)', [
    id,
    digestOf(secret),
  ]);
}
