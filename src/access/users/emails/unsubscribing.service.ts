import { Injectable } from '@nestjs/common';
import { AuditService, type Actor } from '#records/audit/audit.service.js';
import { Transactions } from '#platform/database/queries/transactions.js';
import type { OptionalMailKind } from '#records/mail/mail.entity.js';
import { UnsubscribeKeys, type OpenedKey } from '#records/mail/unsubscribe-keys.service.js';
import { UsersRepository } from '../accounts/users.repository.js';

/** Switching off mails by the link that they carry, without a login (contract §18). */
@Injectable()
export class UnsubscribingService {
  constructor(
    private readonly users: UsersRepository,
    private readonly keys: UnsubscribeKeys,
    private readonly transactions: Transactions,
    private readonly audit: AuditService,
  ) {}

  /** Which mails to which address the key switches off; undefined if it is not right, or was mailed to an earlier address. */
  async find(key: string): Promise<{ kind: OptionalMailKind; email: string } | undefined> {
    const opened = this.openForUser(key);
    const user = opened && (await this.users.findById(opened.id));
    return user && opened.isFor(user.email) ? { kind: opened.kind, email: user.email } : undefined;
  }

  /** Switches the mails off, once; false for a key for which `find` finds nothing. */
  async unsubscribe(key: string, actor: Actor): Promise<boolean> {
    const opened = this.openForUser(key);
    if (!opened) return false;
    const { id: userId, kind } = opened;
    return this.transactions.run(async () => {
      const user = await this.users.lock(userId);
      if (!user || !opened.isFor(user.email)) return false;
      const unwantedMails = await this.users.addUnwantedMail(userId, kind);
      if (unwantedMails === undefined) return true;
      await this.audit.record(actor, {
        action: 'user.mails_chosen',
        subjectId: userId,
        after: { unwanted_mails: unwantedMails },
      });
      return true;
    });
  }

  private openForUser(key: string): (OpenedKey & { kind: OptionalMailKind }) | undefined {
    const opened = this.keys.open(key);
    return opened && opened.kind !== 'client_contact' ? { ...opened, kind: opened.kind } : undefined;
  }
}
