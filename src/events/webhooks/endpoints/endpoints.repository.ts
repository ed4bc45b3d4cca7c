import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import {
  Equal,
  IsNull,
  MoreThan,
  Not,
  Repository,
  type FindOptionsWhere,
  Column,
  Entity,
  PrimaryColumn,
} from 'typeorm';
import { ClientEntity } from '#access/clients/client.entity.js';
import { columnList } from '#platform/database/queries/input-rows.js';
import {
  readPageBySql,
  type PartSql,
  type Page,
  type PageRequest,
  patternOf,
} from '#platform/database/queries/read-page.js';
import type { Environment } from '#access/users/accounts/environment.js';
import { EndpointEntity, FAILING_DAYS, type EndpointDisabledReason } from './endpoint.entity.js';
import type { EndpointInList, EndpointHour, HourlyAttempts } from './endpoint-health.js';
import { ENDPOINT } from './endpoint.resource.js';

/** The attempts of an endpoint in one hour, for the charts. */
@Entity('webhook_endpoint_hours')
export class EndpointHourEntity {
  @PrimaryColumn('text') endpointId!: string;
  @PrimaryColumn('timestamptz') hour!: Date;
  @Column('integer') delivered!: number;
  @Column('integer') failed!: number;
  /** The sum over all attempts. */
  @Column('bigint') durationMs!: string;
  @Column('integer') slowestMs!: number;
}

/** All given members must match. */
export interface EndpointFilter {
  id?: string;
  clientId?: string;
  /** Part of the URL. */
  url?: string;
  /** Only disabled endpoints. */
  isDisabled?: boolean;
  /** Only those of them that the service disabled. */
  isDisabledByService?: boolean;
  /** Only enabled ones without a success since their last failures. */
  isFailing?: boolean;
  /** Of the client. */
  environment?: Environment;
}

/** What a new endpoint consists of. */
export type EndpointRow = Pick<
  EndpointEntity,
  | 'id'
  | 'clientId'
  | 'realm'
  | 'url'
  | 'description'
  | 'eventTypes'
  | 'filters'
  | 'filter'
  | 'enabled'
  | 'sealedSecret'
  | 'maxPerMinute'
  | 'ordered'
  | 'batch'
  | 'signatureVersions'
  | Secrets
>;

type Secrets = 'headerNames' | 'sealedHeaders' | 'authentication' | 'sealedClientSecret';

/** The members of an endpoint that can change. */
export type EndpointRowChanges = Partial<
  Pick<
    EndpointEntity,
    | 'url'
    | 'description'
    | 'eventTypes'
    | 'filters'
    | 'filter'
    | 'enabled'
    | 'maxPerMinute'
    | 'ordered'
    | 'batch'
    | 'signatureVersions'
    | Secrets
  >
>;

/** The sealed members of an endpoint. */
export type SealedSecrets = Pick<
  EndpointEntity,
  'id' | 'sealedSecret' | 'sealedPreviousSecret' | 'sealedHeaders' | 'authentication' | 'sealedClientSecret'
>;

@Injectable()
export class EndpointsRepository {
  constructor(
    @InjectRepository(EndpointEntity) private readonly endpoints: Repository<EndpointEntity>,
    @InjectRepository(EndpointHourEntity) private readonly endpointHours: Repository<EndpointHourEntity>,
  ) {}

  find(id: string, clientId: string | undefined): Promise<EndpointEntity | null> {
    return this.endpoints.findOneBy(liveOf(id, clientId));
  }

  firstUrls(limit: number): Promise<Pick<EndpointEntity, 'id' | 'url'>[]> {
    const where = { deletedAt: IsNull() };
    return this.endpoints.find({ select: { id: true, url: true }, where, order: { id: 'ASC' }, take: limit });
  }

  lock(id: string, clientId: string | undefined): Promise<EndpointEntity | null> {
    return this.endpoints.findOne({
      where: liveOf(id, clientId),
      lock: { mode: 'for_no_key_update' },
    });
  }

  /** It cannot be removed until the transaction ends; results of its deliveries are still written. */
  hold(id: string, clientId: string): Promise<EndpointEntity | null> {
    return this.endpoints.findOne({
      where: liveOf(id, clientId),
      lock: { mode: 'for_key_share' },
    });
  }

  /** Whether the endpoint is the client's, or was until it was deleted. */
  hasEverHad(clientId: string, id: string): Promise<boolean> {
    return this.endpoints.existsBy({ id, clientId });
  }

  async insert(endpoint: EndpointRow): Promise<void> {
    await this.endpoints.insert({ ...endpoint, disabledAt: endpoint.enabled ? null : () => 'now()' });
    if (endpoint.maxPerMinute !== null) await this.openThrottle(endpoint.id);
  }

  /**
   * Changes the given members. `enabled` is given only if it changes, and clears why the service disabled the endpoint; `url` is
   * given only if it changes, and clears the results of the former one; `ordered` is given only if it changes, and lets what waits be
   * lined up.
   */
  async update(id: string, { enabled, ...changes }: EndpointRowChanges): Promise<void> {
    if (enabled) await this.notePause(id);
    if (typeof changes.maxPerMinute === 'number') await this.openThrottle(id);
    const turned =
      enabled === undefined
        ? {}
        : {
            enabled,
            disabledReason: null,
            disabledAt: enabled ? null : () => 'now()',
            failingSince: null,
          };
    const moved = changes.url === undefined ? {} : { failingSince: null, recentResults: '' };
    const lined = changes.ordered === undefined ? {} : { linedUp: false };
    await this.endpoints.update(
      { id },
      { ...changes, ...moved, ...turned, ...lined, updatedAt: () => 'now()' },
    );
  }

  /** Records the period in which it was disabled, before it is enabled. In SQL, because it makes a row from another one. */
  private async notePause(id: string): Promise<void> {
    await this.endpoints.manager.query(
      `INSERT INTO webhook_pauses (endpoint_id, disabled_at, enabled_at)
       SELECT id, disabled_at, now() FROM webhook_endpoints WHERE id = $1 AND disabled_at IS NOT NULL
       ON CONFLICT DO NOTHING`,
      [id],
    );
  }

  /** Creates the row in which claims of a throttled endpoint are counted; a changed limit applies from the next claim on. */
  private async openThrottle(endpointId: string): Promise<void> {
    await this.endpoints.manager.query(
      `INSERT INTO webhook_throttles (endpoint_id) VALUES ($1)
       ON CONFLICT (endpoint_id) DO UPDATE SET blocked_until = '-infinity'`,
      [endpointId],
    );
  }

  /** Marks it as deleted, and removes the partner's own secrets; its row stays as long as its deliveries are kept. */
  async markDeleted(id: string): Promise<void> {
    const without = { headerNames: [], sealedHeaders: null, authentication: null, sealedClientSecret: null };
    await this.endpoints.update({ id }, { ...without, deletedAt: () => 'now()' });
  }

  /** One page of endpoints by id, with their attempts of the last 24 hours. */
  async list(
    { id, clientId, url, isDisabled, isDisabledByService, isFailing, environment }: EndpointFilter,
    page: PageRequest,
  ): Promise<Page<EndpointInList>> {
    const read = (part: PartSql): Promise<EndpointInList[]> => {
      const params: unknown[] = [];
      const { where, orderAndLimit } = part(params);
      const client = clientId === undefined ? 'true' : `e.client_id = $${params.push(clientId)}`;
      // A literal, so that the partial index of disabled endpoints can be used.
      const realm = environment === undefined ? 'true' : `c.environment = $${params.push(environment)}`;
      const one = id === undefined ? 'true' : `e.id = $${params.push(id)}`;
      const ofUrl = url === undefined ? 'true' : `e.url ILIKE $${params.push(patternOf(url))}`;
      const disabled = isDisabledByService
        ? 'NOT e.enabled AND e.disabled_reason IS NOT NULL'
        : isDisabled
          ? 'NOT e.enabled'
          : 'true';
      const failing = isFailing ? 'e.enabled AND e.failing_since IS NOT NULL' : 'true';
      // Joins the clients; the query builder does not support lateral joins.
      return this.endpoints.query(
        `SELECT ${columnList(this.endpoints, 'e', ENDPOINT.shownKeys)}, c.name AS "clientName", c.environment,
                coalesce(h.delivered, 0)::int AS "delivered24h", coalesce(h.failed, 0)::int AS "failed24h",
                e.recent_results LIKE '%.%' AS "hasSucceeded"
           FROM webhook_endpoints e
           JOIN clients c ON c.id = e.client_id
           LEFT JOIN LATERAL (
             SELECT sum(delivered) AS delivered, sum(failed) AS failed FROM webhook_endpoint_hours
              WHERE endpoint_id = e.id AND hour > now() - interval '24 hours') h ON true
          WHERE ${one} AND ${client} AND ${realm} AND ${disabled} AND ${failing} AND ${ofUrl} AND e.deleted_at IS NULL AND ${where} ${orderAndLimit}`,
        params,
      );
    };
    return readPageBySql(page, 'e.id', 'asc', read, url === undefined ? undefined : 'webhook_endpoints');
  }

  /** The hours with attempts since a time, oldest first. */
  hours(endpointId: string, since: Date): Promise<EndpointHour[]> {
    return this.endpointHours
      .createQueryBuilder('h')
      .select('h.hour', 'hour')
      .addSelect('h.delivered', 'delivered')
      .addSelect('h.failed', 'failed')
      .addSelect(
        'CAST(round(CAST(h.durationMs AS numeric) / greatest(h.delivered + h.failed, 1)) AS integer)',
        'averageMs',
      )
      .addSelect('h.slowestMs', 'slowestMs')
      .where('h.endpointId = :endpointId AND h.hour >= :since', { endpointId, since })
      .orderBy('h.hour')
      .getRawMany<EndpointHour>();
  }

  /** The hours with attempts since a time, over all endpoints of a client or of all live clients, oldest first. */
  hoursOfAll(since: Date, clientId?: string): Promise<HourlyAttempts[]> {
    const query = this.endpointHours
      .createQueryBuilder('h')
      .select('h.hour', 'hour')
      .addSelect('CAST(sum(h.delivered) AS float8)', 'delivered')
      .addSelect('CAST(sum(h.failed) AS float8)', 'failed')
      .innerJoin(EndpointEntity, 'e', 'e.id = h.endpointId')
      .where('h.hour >= :since', { since });
    if (clientId === undefined) {
      query.innerJoin(ClientEntity, 'c', 'c.id = e.clientId').andWhere("c.environment = 'live'");
    } else {
      query.andWhere('e.clientId = :clientId', { clientId });
    }
    return query.groupBy('h.hour').orderBy('h.hour').getRawMany<HourlyAttempts>();
  }

  /**
   * Locks the client until the transaction ends, so that concurrent additions are counted one after another. Returns its number
   * of other endpoints: this one already exists if its form is posted again.
   */
  async lockClientAndCountOthers(clientId: string, id: string): Promise<number> {
    // The row of another module is only locked here, in the transaction of the addition.
    await this.endpoints.manager.findOne(ClientEntity, {
      select: { id: true },
      where: { id: clientId },
      lock: { mode: 'for_no_key_update' },
    });
    return this.endpoints.countBy({ id: Not(id), clientId, deletedAt: IsNull() });
  }

  /**
   * Replaces the current secret, which stays valid until the returned time; with `present`, only if that is the current secret.
   */
  async rotateSecret(
    id: string,
    present: string | undefined,
    sealedSecret: Buffer,
    overlapSeconds: number,
  ): Promise<Date | undefined> {
    const rotation = this.endpoints
      .createQueryBuilder()
      .update()
      .set({
        sealedPreviousSecret: () => 'sealed_secret',
        sealedSecret,
        updatedAt: () => 'now()',
        previousSecretExpiresAt: () => 'now() + make_interval(secs => :overlapSeconds)',
      })
      .where('id = :id', { id, overlapSeconds })
      .returning(['previousSecretExpiresAt']);
    if (present !== undefined) {
      rotation.andWhere("encode(sha256(sealedSecret), 'hex') = :present", { present });
    }
    const [row] = (await rotation.execute()).raw as { previous_secret_expires_at: Date }[];
    return row?.previous_secret_expires_at;
  }

  /** The secrets that currently sign, newest first. */
  async liveSealedSecrets(id: string, clientId: string): Promise<Buffer[]> {
    const found = await this.endpoints
      .createQueryBuilder('endpoint')
      .select('endpoint.sealedSecret', 'present')
      .addSelect(
        'CASE WHEN endpoint.previousSecretExpiresAt > now() THEN endpoint.sealedPreviousSecret END',
        'previous',
      )
      .where('endpoint.id = :id AND endpoint.clientId = :clientId', { id, clientId })
      .andWhere('endpoint.deletedAt IS NULL')
      .getRawOne<{ present: Buffer; previous: Buffer | null }>();
    return found ? [found.present, ...(found.previous ? [found.previous] : [])] : [];
  }

  /** Sealed secrets of all endpoints, including deleted ones, by id. */
  sealedSecretsAfter(id: string, limit: number): Promise<SealedSecrets[]> {
    return this.endpoints.find({
      select: {
        ...{ id: true, sealedSecret: true, sealedPreviousSecret: true, sealedHeaders: true },
        ...{ authentication: true, sealedClientSecret: true },
      },
      where: { id: MoreThan(id) },
      order: { id: 'ASC' },
      take: limit,
    });
  }

  /** Stores the same secrets under another seal, unless they have been rotated since. */
  async replaceSealed(id: string, seen: Buffer, secret: Buffer, previous: Buffer | null): Promise<boolean> {
    const { affected } = await this.endpoints
      .createQueryBuilder()
      .update()
      .set({
        sealedSecret: secret,
        sealedPreviousSecret: previous,
        ...(previous === null ? { previousSecretExpiresAt: null } : {}),
      })
      .where('id = :id AND sealedSecret = :seen', { id, seen })
      .execute();
    return affected === 1;
  }

  /** Stores the same headers under another seal, unless they have been changed since. */
  async replaceSealedHeaders(id: string, seen: Buffer, fresh: Buffer): Promise<void> {
    await this.endpoints.update({ id, sealedHeaders: Equal(seen) }, { sealedHeaders: fresh });
  }

  /** Stores the same client secret under another seal, unless it has been changed since. */
  async replaceSealedClientSecret(id: string, seen: Buffer, fresh: Buffer): Promise<void> {
    await this.endpoints.update({ id, sealedClientSecret: Equal(seen) }, { sealedClientSecret: fresh });
  }

  /**
   * Disables an enabled endpoint, once; undefined if it was already disabled, has another URL by now, or was to be disabled because it
   * fails and no longer does: a success may just have been written.
   */
  async disable(
    id: string,
    urlThen: string,
    reason: EndpointDisabledReason,
  ): Promise<{ clientId: string; ownerId: string; url: string } | undefined> {
    // Returns the owner, from the table of clients: the query builder does not support updates from a join.
    const [rows]: [{ clientId: string; ownerId: string; url: string }[]] = await this.endpoints.manager.query(
      `UPDATE webhook_endpoints e SET enabled = false, disabled_reason = $3, disabled_at = now(), updated_at = now()
         FROM clients c
        WHERE e.id = $1 AND e.url = $2 AND e.enabled AND e.deleted_at IS NULL AND c.id = e.client_id
          AND ($3 <> 'failing' OR ${HAS_FAILED_FOR_LONG})
       RETURNING e.client_id AS "clientId", c.owner_id AS "ownerId", e.url`,
      [id, urlThen, reason],
    );
    return rows[0];
  }

  /**
   * Notes that somebody is told that the endpoint is failing; undefined if it is not (10 of its last 20 attempts), or they were told
   * within a day. By hand: the condition is about the text of the results.
   */
  async markTold(id: string): Promise<{ clientId: string; url: string } | undefined> {
    const [rows]: [{ clientId: string; url: string }[], number] = await this.endpoints.manager.query(
      `UPDATE webhook_endpoints e SET failing_told_at = now()
        WHERE e.id = $1 AND e.enabled AND e.deleted_at IS NULL AND ${IS_FAILING} AND ${NOT_TOLD}
       RETURNING e.client_id AS "clientId", e.url`,
      [id],
    );
    return rows[0];
  }
}

/** Of an endpoint (`e`): 10 of its last 20 attempts have failed. */
export const IS_FAILING = `length(replace(e.recent_results, '.', '')) >= 10`;
/** Of an endpoint (`e`): nobody was told of that within a day. */
export const NOT_TOLD = `coalesce(e.failing_told_at <= now() - interval '24 hours', true)`;
/** Of an endpoint (`e`): it has had no success for five days of attempts (contract §10). */
export const HAS_FAILED_FOR_LONG = `e.failing_since <= now() - interval '${FAILING_DAYS} days'`;

/** Matches an endpoint that is not deleted; with a `clientId`, only that client's. */
const liveOf = (id: string, clientId: string | undefined): FindOptionsWhere<EndpointEntity> => ({
  id,
  deletedAt: IsNull(),
  ...(clientId === undefined ? {} : { clientId }),
});
