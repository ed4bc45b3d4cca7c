import { Injectable } from '@nestjs/common';
import { Settings } from '#platform/config/settings.js';
import { PeriodicWorker } from '#platform/database/background/periodic-worker.js';
import { SchemaCompatibility } from '#platform/database/migrations/schema-compatibility.service.js';
import { Transactions } from '#platform/database/queries/transactions.js';
import { MESSAGES } from '#records/notifications/message-catalogue.js';
import { NotificationsService } from '#records/notifications/notifications.service.js';
import { ChangedMeanings } from './changed-meanings.service.js';
import { DomainEvents } from '#platform/database/domain/domain-events.service.js';
import { ConsentExpiryRepository, type PlaceOfEnd, type StretchOfEnds } from './consent-expiry.repository.js';
import { ConsentsService } from './consents.service.js';

const AT_ONCE = 100;
// So that no statement reads for long, however many ends were announced before.
const STRETCH = 5_000;
const START: PlaceOfEnd = { expiresAt: '-infinity', clientId: '', userId: '' };

/** Tells users and clients that a consent will expire, and ends it when it does. Several instances share the work. */
@Injectable()
export class ConsentExpiryService extends PeriodicWorker {
  constructor(
    private readonly repository: ConsentExpiryRepository,
    private readonly meanings: ChangedMeanings,
    private readonly consents: ConsentsService,
    private readonly events: DomainEvents,
    private readonly notifications: NotificationsService,
    private readonly transactions: Transactions,
    settings: Settings,
    schema: SchemaCompatibility,
  ) {
    super({ everyMs: 30_000, failure: 'Consents could not be ended' }, settings, schema);
  }

  protected work(): Promise<unknown> {
    return this.run();
  }

  /**
   * Sets an end for consents to scopes whose meaning changed, notifies users and clients of near ends, then ends expired
   * consents. Returns how many of each. What fails, such as a statement that takes too long, holds up nothing else, and
   * is thrown at the end: the next run tries it again. Stops early if the service stops.
   */
  async run(): Promise<{ told: number; ended: number }> {
    const failures: Error[] = [];
    const attempt = <T>(work: Promise<T>, otherwise: T): Promise<T> =>
      work.catch((error: Error) => {
        failures.push(error);
        return otherwise;
      });
    const { signal: stopping } = this.stopping;
    await attempt(this.meanings.run(stopping), 0);
    const told = await attempt(this.tellAll(stopping), 0);
    let ended = 0;
    // Those that were tried and not ended.
    let left = 0;
    for (let isMore = true; isMore && !stopping.aborted;) {
      const over = await attempt(this.repository.listOver(left, AT_ONCE), []);
      // Each in its own transaction, because it locks the grants of the consent.
      for (const { clientId, userId } of over) {
        if (stopping.aborted) break;
        if (await attempt(this.consents.expire(clientId, userId), false)) ended++;
        else left++;
      }
      isMore = over.length === AT_ONCE;
    }
    if (failures.length > 0) throw failures[0]!;
    return { told, ended };
  }

  private async tellAll(stopping: AbortSignal): Promise<number> {
    const { consentNoticeDays: days } = this.settings;
    let told = 0;
    for (let after: PlaceOfEnd | undefined = START; after && !stopping.aborted;) {
      const upTo: PlaceOfEnd | undefined = await this.repository.placeAfter(days, after, STRETCH);
      for (let next: PlaceOfEnd | undefined = after; next && !stopping.aborted;) {
        const batch = await this.tell(days, { after: next, upTo });
        told += batch.told;
        next = batch.last;
      }
      after = upTo;
    }
    return told;
  }

  /** Announces some of these ends; returns how many, and the position of the last one if there may be more. */
  private async tell(
    days: number,
    stretch: StretchOfEnds,
  ): Promise<{ told: number; last: PlaceOfEnd | undefined }> {
    // Usually there is nothing to do, and no transaction is started.
    if (!(await this.repository.hasNotices(days, stretch))) return { told: 0, last: undefined };
    return this.transactions.run(async () => {
      const ending = await this.repository.noteNotices(days, stretch, AT_ONCE);
      for (const { userId, clientId, clientName, organisation, logoId, expiresAt } of ending) {
        const message = MESSAGES.consentExpiring(clientName, { organisation, logoId }, expiresAt);
        await this.notifications.raise(userId, clientId, message);
      }
      await this.events.say(
        'consents.changed',
        ending.map(({ clientId, userId, scopes, expiresAt }) => ({
          kind: 'expiring',
          clientId,
          userId,
          scopes,
          expiresAt,
        })),
      );
      return { told: ending.length, last: ending.length === AT_ONCE ? ending.at(-1)!.place : undefined };
    });
  }
}
