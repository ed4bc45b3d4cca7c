import { Injectable } from '@nestjs/common';
import { AuditService, type Actor } from '../../audit/audit.service.js';
import { Transactions } from '../../database/queries/transactions.js';
import type { OptionalMailKind } from '../../mail/mail.entity.js';
import { UnsubscribeKeys } from '../../mail/unsubscribe-keys.service.js';
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
    const claim = this.userClaimOf(key);
    const user = claim && (await this.users.findById(claim.id));
    if (!user || !this.keys.isRight(key, claim, user.email)) return undefined;
    return { kind: claim.kind, email: user.email };
  }

  /** Switches the mails off, once; false for a key for which `find` finds nothing. */
  async unsubscribe(key: string, actor: Actor): Promise<boolean> {
    const claim = this.userClaimOf(key);
    if (!claim) return false;
    const { id: userId, kind } = claim;
    return this.transactions.run(async (manager) => {
      const user = await this.users.lock(manager, userId);
      if (!user || !this.keys.isRight(key, claim, user.email)) return false;
      const unwantedMails = await this.users.addUnwantedMail(manager, userId, kind);
      if (unwantedMails === undefined) return true;
      await this.audit.record(manager, actor, {
        action: 'user.mails_chosen',
        subjectId: userId,
        after: { unwanted_mails: unwantedMails },
      });
      return true;
    });
  }

  private userClaimOf(key: string): { kind: OptionalMailKind; id: string } | undefined {
    const claim = this.keys.claimOf(key);
    return claim && claim.kind !== 'client_contact' ? { kind: claim.kind, id: claim.id } : undefined;
  }
}
