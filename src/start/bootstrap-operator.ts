import { ArrayContains, type DataSource, type EntityManager } from 'typeorm';
import { AuditEventEntity } from '#records/audit/audit-event.entity.js';
import { ClientSecretEntity } from '#access/clients/client-secret.entity.js';
import { ClientEntity } from '#access/clients/client.entity.js';
import type { BootstrapOperator } from '#platform/config/settings.js';
import { settingsRefused } from '#platform/config/process-environment.js';
import { OPERATOR_SCOPES } from '#access/scopes/scope.entity.js';
import { newId } from '#platform/secrets/ids.js';
import { hashPassword } from '#platform/secrets/passwords.js';
import { digestOf } from '#platform/secrets/tokens.js';
import { emailKeyOf } from '#access/users/accounts/email.js';
import { UserEntity } from '#access/users/accounts/user.entity.js';

type FirstClient = NonNullable<BootstrapOperator['client']>;

/**
 * Creates the first operator if no operator exists (contract §14): an operator with the role `admin`, and a confidential client with all
 * operator scopes, each only if no other exists. Runs under the lock of the migrations.
 */
export async function bootstrapOperator(dataSource: DataSource, operator: BootstrapOperator): Promise<void> {
  await dataSource.transaction(async (manager) => {
    const ownerId = (await findOperator(manager)) ?? (await createOperator(manager, operator));
    if (!operator.client) return;
    if (!(await hasClient(manager, operator.client))) await createClient(manager, ownerId, operator.client);
  });
}

/** Whether `bootstrapOperator` has nothing to create. */
export async function isBootstrapped(
  manager: EntityManager,
  { client }: BootstrapOperator,
): Promise<boolean> {
  return (await findOperator(manager)) !== undefined && (!client || (await hasClient(manager, client)));
}

/** Its own client may have lost scopes since. */
const hasClient = (manager: EntityManager, { id }: FirstClient): Promise<boolean> =>
  manager.existsBy(ClientEntity, [{ scopes: ArrayContains(['admin:write']) }, { id }]);

/** An enabled admin if there is one: a client of a disabled one gets no usable token. */
async function findOperator(manager: EntityManager): Promise<string | undefined> {
  const user = await manager.findOne(UserEntity, {
    select: { id: true },
    where: { operatorRole: 'admin' },
    order: { enabled: 'DESC', id: 'ASC' },
  });
  return user?.id;
}

async function createOperator(
  manager: EntityManager,
  { email, password }: BootstrapOperator,
): Promise<string> {
  const emailKey = emailKeyOf(email);
  if (await manager.existsBy(UserEntity, { emailKey })) {
    throw settingsRefused(
      'BOOTSTRAP_OPERATOR_EMAIL must not be the address of a user who is not an operator',
    );
  }
  const id = newId('user');
  await manager.insert(UserEntity, {
    id,
    email,
    emailKey,
    name: 'Operator',
    kind: 'individual',
    role: 'operator',
    operatorRole: 'admin',
    passwordHash: await hashPassword(password),
    webhooksEnabled: true,
    enabled: true,
  });
  await record(manager, 'user.created', 'user', id);
  return id;
}

async function createClient(
  manager: EntityManager,
  ownerId: string,
  { id, secret }: FirstClient,
): Promise<void> {
  await manager.insert(ClientEntity, {
    id,
    name: 'Operator',
    type: 'confidential',
    grantTypes: ['client_credentials'],
    scopes: OPERATOR_SCOPES,
    redirectUris: [],
    ownerId,
    enabled: true,
    rateLimit: null,
    companyService: false,
  });
  await manager.insert(ClientSecretEntity, { clientId: id, digest: digestOf(secret) });
  await record(manager, 'client.created', 'client', id);
}

const record = (manager: EntityManager, action: string, subjectType: string, subjectId: string) =>
  manager.insert(AuditEventEntity, {
    actorType: 'service',
    action,
    subjectType,
    subjectId,
    after: { made_by: 'BOOTSTRAP_OPERATOR settings' },
  });
