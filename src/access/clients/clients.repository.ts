import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, Repository } from 'typeorm';
import { batched } from '#platform/database/queries/batched.js';
import { columnList, splitRow } from '#platform/database/queries/input-rows.js';
import { arrayParameter, Statements } from '#platform/database/queries/statements.js';
import { readPage, type Page, type PageRequest, searchFor } from '#platform/database/queries/read-page.js';
import { realmOf, type Environment } from '#access/users/accounts/environment.js';
import { HAS_OPERATOR_SCOPE, OPERATOR_ROLE } from './operator-role.sql.js';
import { ClientSecretUseEntity } from './secret-uses.repository.js';
import { ClientSecretEntity, type SecretInfo } from './client-secret.entity.js';
import { ClientEntity } from './client.entity.js';
import { CLIENT } from './client.resource.js';
import { KNOWN_MEMBERS, type ClientWithSecrets, type KnownClient } from './client-with-secrets.js';

/** The stored columns of a client, without its id and timestamps. */
export type ClientValues = Omit<ClientEntity, 'id' | 'realm' | 'createdAt' | 'updatedAt'>;

const CLIENT_VALUES = [
  ...CLIENT.list.flatMap(({ given, key }) => (given ? [key as keyof ClientValues] : [])),
  ...(['logoId', 'enabled'] as const),
];

/** All given members must match. */
export interface ClientFilter {
  q?: string;
  environment?: Environment;
}

// Identifies a secret among those of a client; in microseconds, so that it is unique.
const nameOf = (createdAt: string): string =>
  `to_char(${createdAt} AT TIME ZONE 'UTC', 'YYYYMMDDHH24MISSUS')`;
const NEWEST = `coalesce(${nameOf('max(created_at)')}, 'none')`;

@Injectable()
export class ClientsRepository {
  constructor(
    @InjectRepository(ClientEntity) private readonly clients: Repository<ClientEntity>,
    @InjectRepository(ClientSecretEntity) private readonly clientSecrets: Repository<ClientSecretEntity>,
    private readonly statements: Statements,
  ) {}

  namesOf(ids: string[]): Promise<Pick<ClientEntity, 'id' | 'name'>[]> {
    return this.clients.find({ select: { id: true, name: true }, where: { id: In(ids) } });
  }

  firstNames(limit: number): Promise<Pick<ClientEntity, 'id' | 'name' | 'environment'>[]> {
    const select = { id: true, name: true, environment: true } as const;
    return this.clients.find({ select, order: { id: 'ASC' }, take: limit });
  }

  findById(id: string): Promise<ClientEntity | null> {
    return this.clients.findOneBy({ id });
  }

  /** The clients of an owner, up to a limit. */
  listOf(ownerId: string, limit: number): Promise<ClientEntity[]> {
    return this.clients.find({ where: { ownerId }, order: { id: 'ASC' }, take: limit });
  }

  existsOf(ownerId: string): Promise<boolean> {
    return this.clients.existsBy({ ownerId });
  }

  async insert(id: string, values: ClientValues): Promise<void> {
    await this.clients.insert({ ...values, id, realm: realmOf(values) });
  }

  /** All clients, by id. */
  listAll(): Promise<ClientEntity[]> {
    return this.clients.find({ order: { id: 'ASC' } });
  }

  /** Reads these clients, and locks them in the order of their ids. */
  lockAll(ids: readonly string[]): Promise<ClientEntity[]> {
    return this.clients.find({
      where: { id: In(ids) },
      order: { id: 'ASC' },
      lock: { mode: 'for_no_key_update' },
    });
  }

  /**
   * Inserts them in one statement. Tokens of an earlier client with the same id stay revoked, because they have an earlier epoch.
   */
  async insertAll(clients: readonly (ClientValues & { id: string })[]): Promise<void> {
    if (clients.length === 0) return;
    const columns = this.columnsOf(['id', 'realm', ...CLIENT_VALUES]);
    await this.clients.manager.query(
      `INSERT INTO clients (${columns}, token_epoch)
       SELECT ${columns}, extract(epoch FROM now() - timestamptz '2020-01-01Z')::int
         FROM jsonb_populate_recordset(NULL::clients, $1)`,
      [JSON.stringify(clients.map((client) => this.rowOf({ ...client, realm: realmOf(client) })))],
    );
  }

  /** Sets all values of these clients that can change, in one statement. */
  async updateAll(clients: readonly (ClientValues & { id: string })[]): Promise<void> {
    if (clients.length === 0) return;
    const columns = this.columnsOf(CLIENT_VALUES.filter((name) => name !== 'environment'));
    await this.clients.manager.query(
      `UPDATE clients c SET (${columns}, updated_at) = ROW (${columns.replace(/\w+/g, 'w.$&')}, now())
         FROM jsonb_populate_recordset(NULL::clients, $1) AS w WHERE w.id = c.id`,
      [JSON.stringify(clients.map((client) => this.rowOf(client)))],
    );
  }

  private columnsOf(members: readonly (keyof ClientEntity & string)[]): string {
    return members.map((name) => this.columnOf(name)).join(', ');
  }

  private rowOf(client: object): object {
    return Object.fromEntries(Object.entries(client).map(([name, value]) => [this.columnOf(name), value]));
  }

  private columnOf(member: string): string {
    return this.clients.metadata.findColumnWithPropertyName(member)!.databaseName;
  }

  /** Sets the values that are given. */
  async update(id: string, values: Partial<ClientValues>): Promise<void> {
    await this.clients.update({ id }, { ...values, updatedAt: () => 'now()' });
  }

  async delete(id: string): Promise<void> {
    await this.clients.delete({ id });
  }

  /**
   * The client with its valid secrets. Concurrent calls share one query: a prepared one with the owner, because requests of every
   * client wait for it.
   */
  readonly findWithSecrets = batched<string, ClientWithSecrets | undefined>(async (ids) => {
    const rows = await this.statements.run<KnownClient & Omit<ClientWithSecrets, 'client'>>(
      'clients with secrets',
      `SELECT ${columnList(this.clients, 'c', KNOWN_MEMBERS)},
              ARRAY(SELECT s.digest FROM client_secrets s
                     WHERE s.client_id = c.id AND (s.expires_at IS NULL OR s.expires_at > now())) AS "secretDigests",
              (SELECT extract(epoch FROM min(s.expires_at) - now())::float8 FROM client_secrets s
                WHERE s.client_id = c.id AND s.expires_at > now()) AS "seconds",
              o.enabled AS "ownerEnabled", ${OPERATOR_ROLE} AS "operatorRole", ${HAS_OPERATOR_SCOPE} AS "hasOperatorScope", o.webhooks_enabled AS "webhooksEnabled", c.token_epoch AS epoch,
              pg_snapshot_xmin(pg_current_snapshot())::text::float8 AS position,
              extract(epoch FROM clock_timestamp())::float8 * 1000 AS now
         FROM clients c JOIN users o ON o.id = c.owner_id WHERE c.id = ANY (${arrayParameter(1, 'text')})`,
      [ids],
    );
    const found = new Map(
      rows.map((row) => {
        const [client, facts] = splitRow(row, KNOWN_MEMBERS);
        return [client.id, { client, ...facts }];
      }),
    );
    return ids.map((id) => found.get(id));
  });

  /** The row, share-locked until the transaction ends: it does not change meanwhile. */
  hold(id: string): Promise<ClientEntity | null> {
    return this.clients.findOne({ where: { id }, lock: { mode: 'pessimistic_read' } });
  }

  /** Reads the row and locks it until the transaction ends, so that nothing new is issued based on it in the meantime. */
  lock(id: string): Promise<ClientEntity | null> {
    return this.clients.findOne({ where: { id }, lock: { mode: 'for_no_key_update' } });
  }

  /** One page by id; `q` is part of the name, or an id. */
  list({ q, environment }: ClientFilter, page: PageRequest): Promise<Page<ClientEntity>> {
    const query = this.clients.createQueryBuilder('client');
    if (q !== undefined) query.where(...searchFor(q, 'client', ['name']));
    if (environment !== undefined) query.andWhere('client.environment = :environment', { environment });
    return readPage(page, 'client.id', 'asc', query, { isSearch: q !== undefined });
  }

  /** Undefined if this is no secret of the client. */
  async stateOfSecret(clientId: string, digest: Buffer): Promise<'valid' | 'expired' | undefined> {
    const row = await this.clientSecrets
      .createQueryBuilder('secret')
      .select("CASE WHEN secret.expiresAt <= now() THEN 'expired' ELSE 'valid' END", 'state')
      .where({ clientId, digest })
      .getRawOne<{ state: 'valid' | 'expired' }>();
    return row?.state;
  }

  /** The client's secrets, newest first, without those that expired more than this many days ago. */
  secrets(clientId: string, days: number): Promise<SecretInfo[]> {
    return this.clientSecrets
      .createQueryBuilder('secret')
      .leftJoin(
        ClientSecretUseEntity,
        'used',
        'used.clientId = secret.clientId AND used.digest = secret.digest',
      )
      .select(nameOf('secret.createdAt'), 'name')
      .addSelect('secret.createdAt', 'createdAt')
      .addSelect('secret.expiresAt', 'expiresAt')
      .addSelect('used.lastUsedAt', 'lastUsedAt')
      .addSelect('coalesce(secret.expiresAt <= now(), false)', 'isExpired')
      .where('secret.clientId = :clientId', { clientId })
      .andWhere('(secret.expiresAt IS NULL OR secret.expiresAt > now() - make_interval(days => :days))', {
        days,
      })
      .orderBy('secret.createdAt', 'DESC')
      .getRawMany<SecretInfo>();
  }

  /** The secrets of these clients, expired ones too, by their digests. */
  async digestsOf(
    ids: readonly string[],
  ): Promise<{ clientId: string; digest: Buffer; isExpired: boolean }[]> {
    return this.clients.manager.query(
      `SELECT client_id AS "clientId", digest, coalesce(expires_at <= now(), false) AS "isExpired"
         FROM client_secrets WHERE client_id = ANY ($1)`,
      [ids],
    );
  }

  /**
   * Adds a secret to each of these clients, and lets their previous ones expire after at most this many seconds. Returns when
   * those of a client do, if it had any. Requires locks on the rows of the clients.
   */
  async addSecrets(
    secrets: readonly { clientId: string; digest: Buffer }[],
    expirePreviousIn: number,
  ): Promise<Map<string, Date>> {
    const columns = [secrets.map(({ clientId }) => clientId), secrets.map(({ digest }) => digest)];
    await this.clients.manager.query(
      `INSERT INTO client_secrets (client_id, digest, created_at)
       SELECT id, digest, clock_timestamp() FROM unnest($1::text[], $2::bytea[]) AS n (id, digest)`,
      columns,
    );
    const [rows]: [{ client_id: string; expires_at: Date }[]] = await this.clients.manager.query(
      `UPDATE client_secrets s SET expires_at = least(s.expires_at, clock_timestamp() + make_interval(secs => $3))
         FROM unnest($1::text[], $2::bytea[]) AS n (id, digest)
        WHERE s.client_id = n.id AND s.digest <> n.digest AND (s.expires_at IS NULL OR s.expires_at > clock_timestamp())
       RETURNING s.client_id, s.expires_at`,
      [...columns, expirePreviousIn],
    );
    const until = new Map<string, Date>();
    for (const { client_id: id, expires_at: time } of rows) {
      until.set(id, new Date(Math.max(time.getTime(), until.get(id)?.getTime() ?? 0)));
    }
    return until;
  }

  /** Identifies the client's newest secret by its creation time; `none` if it has no secret. */
  async newestSecret(clientId: string): Promise<string> {
    const row = await this.clientSecrets
      .createQueryBuilder('secret')
      .select(NEWEST, 'newest')
      .where('secret.clientId = :clientId', { clientId })
      .getRawOne<{ newest: string }>();
    return row!.newest;
  }

  /**
   * Adds a secret and lets the previous ones expire after at most this many seconds. Returns that time, or null if there were
   * none. Undefined, without any change, if the newest secret is not `newest`. Requires a lock on the client's row.
   */
  async addSecret(
    clientId: string,
    digest: Buffer,
    expirePreviousIn: number,
    newest?: string,
  ): Promise<Date | null | undefined> {
    if (!(await this.insertSecret(clientId, digest, newest))) return undefined;
    const times = await this.expireOthers(clientId, digest, expirePreviousIn);
    return times.length === 0 ? null : new Date(Math.max(...times.map((time) => time.getTime())));
  }

  /**
   * Ends a valid secret that has a newer one; false if there is no such secret. In SQL, because the condition is about the other
   * rows.
   */
  async endSecret(clientId: string, name: string): Promise<boolean> {
    const [, ended]: [unknown[], number] = await this.clients.manager.query(
      `UPDATE client_secrets s SET expires_at = clock_timestamp()
        WHERE s.client_id = $1 AND ${nameOf('s.created_at')} = $2
          AND (s.expires_at IS NULL OR s.expires_at > clock_timestamp())
          AND EXISTS (SELECT 1 FROM client_secrets n WHERE n.client_id = s.client_id AND n.created_at > s.created_at)`,
      [clientId, name],
    );
    return ended === 1;
  }

  /** Ends all valid secrets of these clients. Requires locks on the rows of the clients. */
  async endSecrets(clientIds: readonly string[]): Promise<void> {
    await this.clientSecrets
      .createQueryBuilder()
      .update()
      .set({ expiresAt: () => 'clock_timestamp()' })
      .where('clientId IN (:...clientIds) AND (expiresAt IS NULL OR expiresAt > clock_timestamp())', {
        clientIds,
      })
      .execute();
  }

  /** False if the newest secret is not `newest`. In SQL, because what is inserted depends on the rows that are there. */
  private async insertSecret(clientId: string, digest: Buffer, newest: string | undefined): Promise<boolean> {
    // The wall clock rather than the start of the transaction: a transaction that waited for the lock adds the newer secret.
    const inserted: unknown[] = await this.clients.manager.query(
      `INSERT INTO client_secrets (client_id, digest, created_at)
       SELECT $1, $2, clock_timestamp()
        WHERE $3::text IS NULL OR (SELECT ${NEWEST} FROM client_secrets WHERE client_id = $1) = $3
       RETURNING 1`,
      [clientId, digest, newest ?? null],
    );
    return inserted.length === 1;
  }

  /** Lets the valid secrets but this one expire after at most this many seconds, and returns when they do. */
  private async expireOthers(clientId: string, digest: Buffer, seconds: number): Promise<Date[]> {
    // By the wall clock, as above: the overlap begins when the new secret is there.
    const { raw } = await this.clientSecrets
      .createQueryBuilder()
      .update()
      .set({ expiresAt: () => 'least(expires_at, clock_timestamp() + make_interval(secs => :seconds))' })
      .where(
        'clientId = :clientId AND digest <> :digest AND (expiresAt IS NULL OR expiresAt > clock_timestamp())',
      )
      .setParameters({ seconds, clientId, digest })
      .returning(['expiresAt'])
      .execute();
    return (raw as { expires_at: Date }[]).map((row) => row.expires_at);
  }
}
