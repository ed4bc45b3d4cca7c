import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { gathered } from '../database/gathered.js';
import { arrayParameter, Statements } from '../database/statements.js';
import { readPage, type Page, type PageRequest } from '../http/paging.js';
import { searchSql } from '../database/search-sql.js';
import { ClientEntity } from './client.entity.js';

/** A client and the digests of its live secrets: what client authentication needs, in one query. */
export interface ClientWithSecrets {
  client: ClientEntity;
  secretDigests: Buffer[];
  /** Until the first of the secrets expires; null where none does. */
  seconds: number | null;
}

/** What may be said of a secret: when it was made, and until when it counts. */
export interface SecretInfo {
  createdAt: Date;
  /** Null: until it is replaced. */
  expiresAt: Date | null;
  isExpired: boolean;
}

@Injectable()
export class ClientsRepository {
  constructor(
    private readonly dataSource: DataSource,
    private readonly statements: Statements,
  ) {}

  findById(id: string, manager: EntityManager = this.dataSource.manager): Promise<ClientEntity | null> {
    return manager.findOneBy(ClientEntity, { id });
  }

  /** The client with its live secrets; those who ask at the same moment share a query. */
  readonly findWithSecrets = gathered<string, ClientWithSecrets | undefined>(async (ids) => {
    const rows = await this.statements.run<ClientEntity & Omit<ClientWithSecrets, 'client'>>(
      'clients with secrets',
      `SELECT c.id, c.name, c.type, c.grant_types AS "grantTypes", c.scopes, c.redirect_uris AS "redirectUris",
              c.owner_id AS "ownerId", c.enabled, c.rate_limit AS "rateLimit", c.trusted,
              ARRAY(SELECT s.digest FROM client_secrets s
                     WHERE s.client_id = c.id AND (s.expires_at IS NULL OR s.expires_at > now())) AS "secretDigests",
              (SELECT extract(epoch FROM min(s.expires_at) - now())::float8 FROM client_secrets s
                WHERE s.client_id = c.id AND s.expires_at > now()) AS "seconds"
         FROM clients c WHERE c.id = ANY (${arrayParameter(1, 'text')})`,
      [ids],
    );
    const found = new Map(
      rows.map(({ secretDigests, seconds, ...client }) => [client.id, { client, secretDigests, seconds }]),
    );
    return ids.map((id) => found.get(id));
  });

  /** Reads the row and holds it until the transaction ends, so that nothing new is issued on its strength meanwhile. */
  lock(manager: EntityManager, id: string): Promise<ClientEntity | null> {
    return manager.findOne(ClientEntity, { where: { id }, lock: { mode: 'for_no_key_update' } });
  }

  /** One page by id; `q` is a part of the name, or an id. */
  async list(q: string | undefined, page: PageRequest): Promise<Page<ClientEntity>> {
    return readPage(page, 'id', 'asc', async (part) => {
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

  /** Whether this is, or was until it expired, a secret of the client. */
  async isKnownSecret(clientId: string, digest: Buffer): Promise<boolean> {
    const rows: unknown[] = await this.dataSource.query(
      'SELECT 1 FROM client_secrets WHERE client_id = $1 AND digest = $2',
      [clientId, digest],
    );
    return rows.length === 1;
  }

  /** The client's secrets, the newest first; those that expired for as long as they are kept. */
  secrets(clientId: string): Promise<SecretInfo[]> {
    return this.dataSource.query(
      `SELECT created_at AS "createdAt", expires_at AS "expiresAt", coalesce(expires_at <= now(), false) AS "isExpired"
         FROM client_secrets WHERE client_id = $1 ORDER BY created_at DESC`,
      [clientId],
    );
  }

  /** Adds a secret, and lets those before it count for this many seconds more at the most; until when they do, if there are any. */
  async addSecret(
    manager: EntityManager,
    clientId: string,
    digest: Buffer,
    expirePreviousIn: number,
  ): Promise<Date | null> {
    const [previous]: [{ expires_at: Date }[], number] = await manager.query(
      `UPDATE client_secrets SET expires_at = least(expires_at, now() + make_interval(secs => $2))
        WHERE client_id = $1 AND (expires_at IS NULL OR expires_at > now()) RETURNING expires_at`,
      [clientId, expirePreviousIn],
    );
    await manager.query('INSERT INTO client_secrets (client_id, digest) VALUES ($1, $2)', [clientId, digest]);
    const times = previous.map((row) => row.expires_at.getTime());
    return times.length === 0 ? null : new Date(Math.max(...times));
  }
}
