import { Injectable } from '@nestjs/common';
import { isDeepStrictEqual } from 'node:util';
import type { Language } from '#platform/language/languages.js';
import type { Page, PageRequest } from '#platform/database/queries/read-page.js';
import { asStoredJson } from '#platform/database/queries/input-rows.js';
import { inOrderOfCommits, placeOf } from '#platform/database/queries/in-order-of-commits.js';
import { cursorAhead, unknownCursor } from '#platform/http/problems/problem.js';
import type { AuditEventEntity } from './audit-event.entity.js';
import { AuditRepository, type AuditFilter } from './audit.repository.js';
import type { OperatorRole } from '#platform/config/operator-role.js';
import { requireTransaction } from '#platform/database/queries/transaction-around.js';

export type { AuditFilter };

/** Who acts, and from where: a logged-in user, a client by its token, or the service itself. */
export interface Actor {
  type: 'user' | 'client' | 'service';
  id: string | null;
  address?: string;
  requestId?: string;
  /** The digest of the browser session in which a user acts; it is not recorded. */
  sessionDigest?: Buffer;
  /** The language of the person's pages; it is not recorded. */
  language?: Language;
  /** The role of the acting operator, or of the client's owner: limits whom the action may concern. */
  operatorRole?: OperatorRole;
  /** The owner of the client. */
  ownerId?: string;
}

/** The service itself, acting without a request. */
export const SERVICE_ACTOR: Actor = { type: 'service', id: null };

type SubjectType =
  | 'user'
  | 'client'
  | 'consent'
  | 'grant'
  | 'scope'
  | 'purpose'
  | 'event_type'
  | 'session'
  | 'portal_session'
  | 'notification'
  | 'webhook_endpoint'
  | 'delivery'
  | 'token_key'
  | 'approval'
  | 'redirect_uri_request'
  | 'invitation'
  | 'brand';

/**
 * An action and its subject, whose type follows from the action unless it is given; `before` and `after` contain neither secrets
 * nor their digests.
 */
export type AuditEntry = {
  subjectId: string;
  before?: Record<string, unknown>;
  after?: Record<string, unknown>;
} & (
  | { action: `${SubjectType}.${string}`; subjectType?: SubjectType }
  | { action: string; subjectType: SubjectType }
);

const OURS = /^(audt[0-9A-HJKMNP-TV-Z]{26})?$/;

/** The audit log. Every change records its entry here, in its own transaction. */
@Injectable()
export class AuditService {
  constructor(private readonly repository: AuditRepository) {}

  record(actor: Actor, entry: AuditEntry): Promise<void> {
    return this.recordAll(actor, [entry]);
  }

  /** The same for many. */
  async recordAll(actor: Actor, entries: readonly AuditEntry[]): Promise<void> {
    requireTransaction('An entry of the audit log');
    await this.repository.insertAll(
      entries.map((entry) => ({
        actorType: actor.type,
        actorId: actor.id,
        action: entry.action,
        subjectType: entry.subjectType ?? entry.action.split('.', 1)[0]!,
        subjectId: entry.subjectId,
        address: actor.address ?? null,
        requestId: actor.requestId ?? null,
        before: entry.before ?? null,
        after: entry.after ?? null,
      })),
    );
  }

  /** The log, newest first. */
  list(filter: AuditFilter, page: PageRequest): Promise<Page<AuditEventEntity>> {
    return this.repository.list(filter, page);
  }

  /** The actions that the log has, by name, up to a limit. */
  actions(limit: number): Promise<string[]> {
    return this.repository.actions(limit);
  }

  /**
   * The log in the order of its commits, each entry with the cursor that continues after it; with `follow` it never ends. Throws
   * a 400 problem for a cursor from another database.
   */
  async *follow(
    cursor: string | undefined,
    follow: boolean,
  ): AsyncGenerator<{ row: AuditEventEntity; cursor: string }> {
    const from = cursor === undefined ? { xid: '0', id: '' } : placeOf(cursor);
    if (!from || !OURS.test(from.id)) throw unknownCursor();
    await this.repository.adoptRestored();
    yield* inOrderOfCommits(from, follow, async (place, limit) => {
      const { isAhead, entries } = await this.repository.after(place, limit);
      if (isAhead) throw cursorAhead();
      return entries;
    });
  }
}

/** The members that differ between two states, as `before` and `after` of an audit event; undefined if none differ. */
export function changesBetween<T extends object>(
  before: T,
  after: T,
): { before: Record<string, unknown>; after: Record<string, unknown> } | undefined {
  const changed = (Object.keys(after) as (keyof T & string)[]).filter(
    // The database keeps the members of JSON in an order of its own.
    (name) => !isDeepStrictEqual(asStoredJson(before[name]), asStoredJson(after[name])),
  );
  if (changed.length === 0) return undefined;
  const pick = (state: T) => Object.fromEntries(changed.map((name) => [name, state[name]]));
  return { before: pick(before), after: pick(after) };
}
