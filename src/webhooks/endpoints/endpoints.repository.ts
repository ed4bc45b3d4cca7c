import { Injectable } from '@nestjs/common';
import { DataSource, IsNull, type EntityManager, type FindOptionsWhere } from 'typeorm';
import { readPageBySql, type Page, type PageRequest } from '../../http/paging.js';
import { EndpointEntity, type EndpointDisabledReason } from './endpoint.entity.js';

/** An endpoint's attempts in one hour. */
export interface EndpointHour {
  hour: Date;
  delivered: number;
  failed: number;
  averageMs: number;
  slowestMs: number;
}

/** An endpoint in a list, with its attempts of the last 24 hours. */
export interface EndpointInList extends EndpointEntity {
  clientName: string;
  delivered24h: number;
  failed24h: number;
}

/** All given members must match. */
export interface EndpointFilter {
  clientId?: string;
  /** Only disabled endpoints. */
  isDisabled?: boolean;
}

/** The attempts of all endpoints in one hour. */
export interface HourOfAllEndpoints {
  hour: Date;
  delivered: number;
  failed: number;
}

@Injectable()
export class EndpointsRepository {
  constructor(private readonly dataSource: DataSource) {}

  find(
    id: string,
    clientId: string | undefined,
    manager: EntityManager = this.dataSource.manager,
  ): Promise<EndpointEntity | null> {
    return manager.findOneBy(EndpointEntity, liveOf(id, clientId));
  }

  lock(manager: EntityManager, id: string, clientId: string | undefined): Promise<EndpointEntity | null> {
    return manager.findOne(EndpointEntity, {
      where: liveOf(id, clientId),
      lock: { mode: 'for_no_key_update' },
    });
  }

  /** One page of endpoints by id, with their attempts of the last 24 hours. */
  async list({ clientId, isDisabled }: EndpointFilter, page: PageRequest): Promise<Page<EndpointInList>> {
    return readPageBySql(page, 'e.id', 'asc', async (part) => {
      const params: unknown[] = [];
      const { where, orderAndLimit } = part(params);
      const client = clientId === undefined ? 'true' : `e.client_id = $${params.push(clientId)}`;
      // A literal, so that the partial index of disabled endpoints can be used.
      const disabled = isDisabled ? 'NOT e.enabled' : 'true';
      const rows: (Partial<EndpointInList> & { id: string })[] = await this.dataSource.query(
        `SELECT e.id, e.client_id AS "clientId", c.name AS "clientName", e.url, e.description, e.event_types AS "eventTypes", e.enabled,
                e.disabled_reason AS "disabledReason", e.disabled_at AS "disabledAt", e.last_attempt_at AS "lastAttemptAt",
                e.previous_secret_expires_at AS "previousSecretExpiresAt", e.failing_since AS "failingSince",
                e.created_at AS "createdAt", e.updated_at AS "updatedAt",
                coalesce(h.delivered, 0)::int AS "delivered24h", coalesce(h.failed, 0)::int AS "failed24h"
           FROM webhook_endpoints e
           JOIN clients c ON c.id = e.client_id
           LEFT JOIN LATERAL (
             SELECT sum(delivered) AS delivered, sum(failed) AS failed FROM webhook_endpoint_hours
              WHERE endpoint_id = e.id AND hour > now() - interval '24 hours') h ON true
          WHERE ${client} AND ${disabled} AND e.deleted_at IS NULL AND ${where} ${orderAndLimit}`,
        params,
      );
      return rows.map((row) =>
        Object.assign(this.dataSource.manager.create(EndpointEntity, row), row),
      ) as EndpointInList[];
    });
  }

  /** The hours with attempts since a time, oldest first. */
  hours(endpointId: string, since: Date): Promise<EndpointHour[]> {
    return this.dataSource.query(
      `SELECT hour, delivered, failed, round(duration_ms::numeric / greatest(delivered + failed, 1))::int AS "averageMs",
              slowest_ms AS "slowestMs"
         FROM webhook_endpoint_hours WHERE endpoint_id = $1 AND hour >= $2 ORDER BY hour`,
      [endpointId, since],
    );
  }

  /** The hours with attempts since a time, over all endpoints, oldest first. */
  hoursOfAll(since: Date): Promise<HourOfAllEndpoints[]> {
    return this.dataSource.query(
      `SELECT hour, sum(delivered)::float8 AS delivered, sum(failed)::float8 AS failed
         FROM webhook_endpoint_hours WHERE hour >= $1 GROUP BY hour ORDER BY hour`,
      [since],
    );
  }

  /**
   * Locks the client until the transaction ends, so that concurrent additions are counted one after another. Returns its number
   * of endpoints.
   */
  async lockClientAndCount(manager: EntityManager, clientId: string): Promise<number> {
    await manager.query('SELECT 1 FROM clients WHERE id = $1 FOR NO KEY UPDATE', [clientId]);
    return manager.countBy(EndpointEntity, { clientId, deletedAt: IsNull() });
  }

  /**
   * Replaces the current secret, which stays valid until the returned time; with `present`, only if that is the current secret.
   */
  async rotateSecret(
    manager: EntityManager,
    id: string,
    present: string | undefined,
    sealedSecret: Buffer,
    overlapSeconds: number,
  ): Promise<Date | undefined> {
    const [[row]]: [{ until: Date }[]] = await manager.query(
      `UPDATE webhook_endpoints
          SET sealed_previous_secret = sealed_secret, sealed_secret = $2, updated_at = now(),
              previous_secret_expires_at = now() + make_interval(secs => $3)
        WHERE id = $1
          AND ($4::text IS NULL OR encode(sha256(sealed_secret), 'hex') = $4)
        RETURNING previous_secret_expires_at AS until`,
      [id, sealedSecret, overlapSeconds, present ?? null],
    );
    return row?.until;
  }

  /** The secrets that currently sign, newest first. */
  async liveSealedSecrets(id: string, clientId: string): Promise<Buffer[]> {
    const rows: { present: Buffer; previous: Buffer | null }[] = await this.dataSource.query(
      `SELECT sealed_secret AS present,
              CASE WHEN previous_secret_expires_at > now() THEN sealed_previous_secret END AS previous
         FROM webhook_endpoints WHERE id = $1 AND client_id = $2 AND deleted_at IS NULL`,
      [id, clientId],
    );
    return rows.flatMap(({ present, previous }) => [present, ...(previous ? [previous] : [])]);
  }

  /** Sealed secrets of all endpoints, including deleted ones, by id. */
  sealedSecretsAfter(
    id: string,
    limit: number,
  ): Promise<{ id: string; secret: Buffer; previous: Buffer | null }[]> {
    return this.dataSource.query(
      `SELECT id, sealed_secret AS secret, sealed_previous_secret AS previous FROM webhook_endpoints
        WHERE id > $1 ORDER BY id LIMIT $2`,
      [id, limit],
    );
  }

  /** Stores the same secrets under another seal, unless they were rotated meanwhile. */
  async replaceSealed(id: string, seen: Buffer, secret: Buffer, previous: Buffer | null): Promise<boolean> {
    const [, count]: [unknown[], number] = await this.dataSource.query(
      `UPDATE webhook_endpoints
          SET sealed_secret = $3, sealed_previous_secret = $4,
              previous_secret_expires_at = CASE WHEN $4::bytea IS NOT NULL THEN previous_secret_expires_at END
        WHERE id = $1 AND sealed_secret = $2`,
      [id, seen, secret, previous],
    );
    return count === 1;
  }

  /** Disables an enabled endpoint, once; undefined if it was already disabled. */
  async disable(
    manager: EntityManager,
    id: string,
    reason: EndpointDisabledReason,
  ): Promise<{ clientId: string; ownerId: string; url: string } | undefined> {
    const [rows]: [{ clientId: string; ownerId: string; url: string }[]] = await manager.query(
      `UPDATE webhook_endpoints e SET enabled = false, disabled_reason = $2, disabled_at = now(), updated_at = now()
         FROM clients c
        WHERE e.id = $1 AND e.enabled AND e.deleted_at IS NULL AND c.id = e.client_id
       RETURNING e.client_id AS "clientId", c.owner_id AS "ownerId", e.url`,
      [id, reason],
    );
    return rows[0];
  }
}

/** Matches an endpoint that is not deleted; with a `clientId`, only that client's. */
const liveOf = (id: string, clientId: string | undefined): FindOptionsWhere<EndpointEntity> => ({
  id,
  deletedAt: IsNull(),
  ...(clientId === undefined ? {} : { clientId }),
});
