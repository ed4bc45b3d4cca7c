import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { batched } from '../database/batched.js';
import { arrayParameter, Statements } from '../database/statements.js';
import { readPageBySql, type Page, type PageRequest } from '../http/paging.js';
import { searchSql } from '../database/search-sql.js';
import { ClientEntity } from './client.entity.js';

/** A client, the digests of its valid secrets, and what its tokens depend on: everything that requests need, in one query. */
export interface ClientWithSecrets {
  client: ClientEntity;
  secretDigests: Buffer[];
  /** Seconds until the first of the secrets expires; null if none does. */
  seconds: number | null;
  ownerEnabled: boolean;
  webhooksEnabled: boolean;
  /** Client-credentials tokens of earlier epochs are revoked. */
  epoch: number;
  /** The transaction position and the time (milliseconds since 1970) as of which all this holds. */
  position: number;
  now: number;
}

/** What may be shown of a secret: when it was created and when it expires. */
export interface SecretInfo {
  createdAt: Date;
  /** Null: never, until it is rotated. */
  expiresAt: Date | null;
  isExpired: boolean;
}

// Of client $1, in microseconds so that every secret has its own.
const NEWEST = `(SELECT coalesce(to_char(max(created_at) AT TIME ZONE 'UTC', 'YYYYMMDDHH24MISSUS'), 'none')
                   FROM client_secrets WHERE client_id = $1)`;

@Injectable()
export class ClientsRepository {
  constructor(
    private readonly dataSource: DataSource,
    private readonly statements: Statements,
  ) {}

  findById(id: string, manager: EntityManager = this.dataSource.manager): Promise<ClientEntity | null> {
    return manager.findOneBy(ClientEntity, { id });
  }

  /** The client with its valid secrets. Concurrent calls share one query. */
  readonly findWithSecrets = batched<string, ClientWithSecrets | undefined>(async (ids) => {
    const rows = await this.statements.run<ClientEntity & Omit<ClientWithSecrets, 'client'>>(
      'clients with secrets',
      `SELECT c.id, c.name, c.type, c.grant_types AS "grantTypes", c.scopes, c.redirect_uris AS "redirectUris",
              c.owner_id AS "ownerId", c.enabled, c.rate_limit AS "rateLimit", c.trusted,
              ARRAY(SELECT s.digest FROM client_secrets s
                     WHERE s.client_id = c.id AND (s.expires_at IS NULL OR s.expires_at > now())) AS "secretDigests",
              (SELECT extract(epoch FROM min(s.expires_at) - now())::float8 FROM client_secrets s
                WHERE s.client_id = c.id AND s.expires_at > now()) AS "seconds",
              o.enabled AS "ownerEnabled", o.webhooks_enabled AS "webhooksEnabled", c.token_epoch AS epoch,
              pg_snapshot_xmin(pg_current_snapshot())::text::float8 AS position,
              extract(epoch FROM clock_timestamp())::float8 * 1000 AS now
         FROM clients c JOIN users o ON o.id = c.owner_id WHERE c.id = ANY (${arrayParameter(1, 'text')})`,
      [ids],
    );
    const found = new Map(
      rows.map(
        ({ secretDigests, seconds, ownerEnabled, webhooksEnabled, epoch, position, now, ...client }) => [
          client.id,
          { client, secretDigests, seconds, ownerEnabled, webhooksEnabled, epoch, position, now },
        ],
      ),
    );
    return ids.map((id) => found.get(id));
  });

  /** Reads the row and locks it until the transaction ends, so that nothing new is issued based on it meanwhile. */
  lock(manager: EntityManager, id: string): Promise<ClientEntity | null> {
    return manager.findOne(ClientEntity, { where: { id }, lock: { mode: 'for_no_key_update' } });
  }

  /** One page by id; `q` is part of the name, or an id. */
  async list(q: string | undefined, page: PageRequest): Promise<Page<ClientEntity>> {
    return readPageBySql(page, 'id', 'asc', async (part) => {
      const params: unknown[] = [];
      const { where, orderAndLimit } = part(params);
      const search = q === undefined ? 'true' : searchSql(params, q, ['name']);
      const rows: { id: string }[] = await this.dataSource.query(
        `SELECT id, name, type, grant_types AS "grantTypes", scopes, redirect_uris AS "redirectUris",
                owner_id AS "ownerId", enabled, rate_limit AS "rateLimit", trusted,
                created_at AS "createdAt", updated_at AS "updatedAt"
           FROM clients WHERE ${search} AND ${where} ${orderAndLimit}`,
        params,
      );
      return rows.map((row) => this.dataSource.manager.create(ClientEntity, row));
    });
  }

  /** Whether this is a secret of the client, valid or expired. */
  async isKnownSecret(clientId: string, digest: Buffer): Promise<boolean> {
    const rows: unknown[] = await this.dataSource.query(
      'SELECT 1 FROM client_secrets WHERE client_id = $1 AND digest = $2',
      [clientId, digest],
    );
    return rows.length === 1;
  }

  /** The client's secrets, newest first, including expired ones that are still kept. */
  secrets(clientId: string): Promise<SecretInfo[]> {
    return this.dataSource.query(
      `SELECT created_at AS "createdAt", expires_at AS "expiresAt", coalesce(expires_at <= now(), false) AS "isExpired"
         FROM client_secrets WHERE client_id = $1 ORDER BY created_at DESC`,
      [clientId],
    );
  }

  /** Identifies the client's newest secret by its creation time; `none` if there is none. */
  async newestSecret(clientId: string): Promise<string> {
    const [row]: { newest: string }[] = await this.dataSource.query(`SELECT ${NEWEST} AS newest`, [clientId]);
    return row!.newest;
  }

  /**
   * Adds a secret and lets the previous ones expire after at most this many seconds. Returns that time, or null if there were
   * none. Undefined, without any change, if the newest secret is not `newest`. Requires a lock on the client's row.
   */
  async addSecret(
    manager: EntityManager,
    clientId: string,
    digest: Buffer,
    expirePreviousIn: number,
    newest?: string,
  ): Promise<Date | null | undefined> {
    // The wall clock rather than the start of the transaction: a transaction that waited for the lock adds the newer secret.
    const added: unknown[] = await manager.query(
      `INSERT INTO client_secrets (client_id, digest, created_at)
       SELECT $1, $2, clock_timestamp() WHERE $3::text IS NULL OR ${NEWEST} = $3 RETURNING 1`,
      [clientId, digest, newest ?? null],
    );
    if (added.length === 0) return undefined;
    const [previous]: [{ expires_at: Date }[], number] = await manager.query(
      `UPDATE client_secrets SET expires_at = least(expires_at, now() + make_interval(secs => $2))
        WHERE client_id = $1 AND digest <> $3 AND (expires_at IS NULL OR expires_at > now()) RETURNING expires_at`,
      [clientId, expirePreviousIn, digest],
    );
    const times = previous.map((row) => row.expires_at.getTime());
    return times.length === 0 ? null : new Date(Math.max(...times));
  }
}
