import type { Client } from 'pg';
import type { DataSourceOptions } from 'typeorm';
import { MIGRATIONS } from '../../migrations/index.js';
import { ActivityHourEntity } from '../activity/activity-hour.entity.js';
import { AuditEventEntity } from '../audit/audit-event.entity.js';
import { ClientSecretEntity } from '../clients/client-secret.entity.js';
import { ClientEntity } from '../clients/client.entity.js';
import { ConsentEntity } from '../consents/consent.entity.js';
import { NotificationEntity } from '../notifications/notification.entity.js';
import { RateLimitPeriodEntity } from '../rate-limits/rate-limit-period.entity.js';
import { ScopeEntity } from '../scopes/scope.entity.js';
import { AccessTokenEntity } from '../tokens/access-token.entity.js';
import { AuthorizationCodeEntity } from '../tokens/authorization-code.entity.js';
import { GrantEntity } from '../tokens/grant.entity.js';
import { RefreshTokenEntity } from '../tokens/refresh-token.entity.js';
import { PasswordLinkEntity } from '../users/password-link.entity.js';
import { SessionEntity } from '../users/session.entity.js';
import { UserEntity } from '../users/user.entity.js';
import { PortalLinkEntity } from '../webhook-portal/portal-link.entity.js';
import { PortalSessionEntity } from '../webhook-portal/portal-session.entity.js';
import { EndpointEntity } from '../webhooks/endpoints/endpoint.entity.js';
import { EventTypeEntity } from '../webhooks/event-types/event-type.entity.js';
import { socketOf } from './connection-socket.js';

// A statement or a wait for a lock that takes longer than this is given up, and the caller gets a 503.
const STATEMENT_TIMEOUT_MS = 10_000;
const LOCK_TIMEOUT_MS = 5_000;
const CONNECT_TIMEOUT_MS = 3_000;
// PostgreSQL keeps to the limits above itself; whoever says nothing for longer is gone, and took the connection along.
// (The pool closes what is idle before that.)
const SILENCE_MS = 12_000;

// Every lookup has its index. A plan that is kept must not rest on a table's being empty when it was made: it would read the
// whole table long after it has grown (docs/decisions/0009-plans-that-hold.md).
const PLAN_FOR_LARGE_TABLES =
  'SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off; SET jit = off';

/** Sees to it that a connection that breaks, or falls silent, is told to whoever uses it. */
function watch(connection: Client): void {
  // While it passes from the pool to its user nobody else listens, and an error without a listener ends the process.
  connection.on('error', () => undefined);
  const socket = socketOf(connection);
  socket.setTimeout(SILENCE_MS, () => socket.destroy(new Error('Connection terminated: no answer in time')));
}

async function prepare(connection: Client): Promise<void> {
  watch(connection);
  await connection.query(PLAN_FOR_LARGE_TABLES);
}

/** The one definition of the database for the service, its migrations and the tests. */
export function dataSourceOptions(url: string, poolSize: number): DataSourceOptions {
  return {
    type: 'postgres',
    url,
    poolSize,
    connectTimeoutMS: CONNECT_TIMEOUT_MS,
    applicationName: 'charging-data-service',
    entities: [
      AccessTokenEntity,
      ActivityHourEntity,
      AuditEventEntity,
      AuthorizationCodeEntity,
      ClientEntity,
      ClientSecretEntity,
      ConsentEntity,
      EndpointEntity,
      EventTypeEntity,
      GrantEntity,
      NotificationEntity,
      PasswordLinkEntity,
      PortalLinkEntity,
      PortalSessionEntity,
      RateLimitPeriodEntity,
      RefreshTokenEntity,
      ScopeEntity,
      SessionEntity,
      UserEntity,
    ],
    migrations: MIGRATIONS,
    migrationsTableName: 'migrations',
    synchronize: false,
    logging: false,
    extra: {
      statement_timeout: STATEMENT_TIMEOUT_MS,
      lock_timeout: LOCK_TIMEOUT_MS,
      idle_in_transaction_session_timeout: STATEMENT_TIMEOUT_MS,
      keepAlive: true,
      onConnect: prepare,
    },
  };
}
