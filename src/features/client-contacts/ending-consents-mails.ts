import { Injectable } from '@nestjs/common';
import type { ConsentChange } from '#access/domain/domain-events.js';
import { ConsentsService } from '#access/consents/consents.service.js';
import { OnDomainEvent } from '#platform/database/domain/domain-map.js';
import { MailsService } from '#records/mail/mails.service.js';
import { ContactsService } from './contacts.service.js';

// Counting stops here; the mail then says "more than".
const COUNTED_UP_TO = 10_001;

/** Mails the contacts of a client that consents to it will soon end (contract §18), in the transaction that tells of the first of a day. */
@Injectable()
export class EndingConsentsMails {
  constructor(
    private readonly contacts: ContactsService,
    private readonly consents: ConsentsService,
    private readonly mails: MailsService,
  ) {}

  @OnDomainEvent('consents.changed', 3)
  async tell(changes: ConsentChange[]): Promise<void> {
    if (!this.mails.isOn) return;
    const expiring = changes.filter(({ kind }) => kind === 'expiring');
    // In order, because two that tell the same clients at a time wait for each other.
    for (const clientId of [...new Set(expiring.map((change) => change.clientId))].sort()) {
      const { count, day } = await this.consents.countEnding(clientId, COUNTED_UP_TO);
      await this.contacts.tellConsentsEnding(clientId, { count: inWords(count), day });
    }
  }
}

function inWords(count: number): string {
  if (count === 1) return 'One consent ends';
  const number =
    count >= COUNTED_UP_TO
      ? `More than ${(COUNTED_UP_TO - 1).toLocaleString('en-GB')}`
      : count.toLocaleString('en-GB');
  return `${number} consents end`;
}
