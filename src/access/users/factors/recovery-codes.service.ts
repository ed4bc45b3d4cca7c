import { Injectable } from '@nestjs/common';
import { AuditService, type Actor } from '#records/audit/audit.service.js';
import { MESSAGES } from '#records/notifications/message-catalogue.js';
import { NotificationsService } from '#records/notifications/notifications.service.js';
import { newRecoveryCode, readRecoveryCode, recoveryCodeDigest } from './recovery-code.js';
import { RecoveryCodesRepository } from './recovery-codes.repository.js';

const CODES = 10;

/** Recovery codes, for a user who cannot use the other factors (contract §16). */
@Injectable()
export class RecoveryCodesService {
  constructor(
    private readonly codes: RecoveryCodesRepository,
    private readonly audit: AuditService,
    private readonly notifications: NotificationsService,
  ) {}

  /** Makes new codes in place of those before; they are never shown again. */
  async replace(userId: string, actor: Actor): Promise<string[]> {
    const codes = Array.from({ length: CODES }, newRecoveryCode);
    await this.codes.deleteByUser(userId);
    await this.codes.insert(
      userId,
      codes.map((code) => recoveryCodeDigest(userId, code)),
    );
    const entry = { action: 'user.recovery_codes_created', subjectId: userId } as const;
    await this.audit.record(actor, entry);
    return codes;
  }

  /** Uses up a code; false if the user does not have it. */
  async use(userId: string, typed: string, actor: Actor): Promise<boolean> {
    const code = readRecoveryCode(typed);
    if (code === undefined) return false;
    if (!(await this.codes.use(userId, recoveryCodeDigest(userId, code)))) return false;
    const left = await this.codes.count(userId);
    await this.audit.record(
      { ...actor, type: 'user', id: userId },
      { action: 'user.recovery_code_used', subjectId: userId, after: { left } },
    );
    await this.notifications.raise(userId, null, MESSAGES.recoveryCodeUsed(left), actor);
    return true;
  }
}
