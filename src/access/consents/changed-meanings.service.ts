import { Injectable } from '@nestjs/common';
import { AuditService, SERVICE_ACTOR } from '#records/audit/audit.service.js';
import { Settings } from '#platform/config/settings.js';
import { Transactions } from '#platform/database/queries/transactions.js';
import { ScopesService, type ChangedMeaning } from '#access/scopes/scopes.service.js';
import {
  ChangedMeaningsRepository,
  type ConsentAskedAnew,
  type Place,
  type Stretch,
} from './changed-meanings.repository.js';
import { DomainEvents } from '#platform/database/domain/domain-events.service.js';

const AT_ONCE = 100;
// So that no statement reads for long, however few of the consents are to be asked for.
const STRETCH = 5_000;
const START: Place = { clientId: '', userId: '' };

/**
 * When the meaning of a scope changes, sets an end for every earlier consent that includes the scope, so that its user is asked
 * again (contract §2). Several instances share the work; if one is killed, the others do the rest.
 */
@Injectable()
export class ChangedMeanings {
  constructor(
    private readonly repository: ChangedMeaningsRepository,
    private readonly scopes: ScopesService,
    private readonly events: DomainEvents,
    private readonly audit: AuditService,
    private readonly transactions: Transactions,
    private readonly settings: Settings,
  ) {}

  /** Processes everything that is due, until the service stops; returns the number of consents that got an end. */
  async run(stopping?: AbortSignal): Promise<number> {
    let count = 0;
    for (const change of await this.scopes.listChangedMeanings()) {
      await this.scopes.beginWorkingOff(change);
      for await (const stretch of this.stretches()) {
        let after: Place | undefined = stretch.after;
        while (after) {
          if (stopping?.aborted) return count;
          const batch = await this.runBatch(change, { ...stretch, after });
          count += batch.done;
          after = batch.last;
        }
      }
      // Consents remain if they were locked, or given while the words changed: the next run starts over.
      if (!(await this.isAnyLeft(change))) await this.scopes.noteWorkedOff(change);
    }
    return count;
  }

  private async isAnyLeft(change: ChangedMeaning): Promise<boolean> {
    for await (const stretch of this.stretches())
      if (await this.repository.isAnyLeft(change, stretch)) return true;
    return false;
  }

  /** All consents, in stretches. */
  private async *stretches(): AsyncGenerator<Stretch> {
    for (let after: Place | undefined = START; after;) {
      const upTo: Place | undefined = await this.repository.placeAfter(after, STRETCH);
      yield { after, upTo };
      after = upTo;
    }
  }

  private runBatch(
    change: ChangedMeaning,
    stretch: Stretch,
  ): Promise<{ done: number; last: Place | undefined }> {
    return this.transactions.run(async () => {
      const places = await this.repository.lockSome(change, stretch, AT_ONCE);
      const days = this.settings.consentNoticeDays;
      const asked = await this.repository.giveEnd(change, places, days);
      for (const consent of asked) {
        await this.audit.record(SERVICE_ACTOR, {
          action: 'consent.updated',
          subjectId: consent.userId,
          before: audited(consent, consent.expiresBefore, consent.wordsChangedBefore),
          after: audited(consent, consent.expiresAt, consent.wordsChanged),
        });
      }
      const sooner = asked.filter(
        ({ expiresBefore, expiresAt }) => expiresBefore?.getTime() !== expiresAt.getTime(),
      );
      await this.events.say(
        'consents.changed',
        sooner.map(({ clientId, userId, scopes, expiresAt }) => ({
          kind: 'changed',
          clientId,
          userId,
          scopes,
          expiresAt,
        })),
      );
      return { done: asked.length, last: places.length === AT_ONCE ? places.at(-1) : undefined };
    });
  }
}

const audited = ({ clientId }: ConsentAskedAnew, expiresAt: Date | null, wordsChanged: string[]) => ({
  client_id: clientId,
  expires_at: expiresAt?.toISOString(),
  words_changed: wordsChanged,
});
