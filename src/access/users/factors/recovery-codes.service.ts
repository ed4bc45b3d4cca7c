import { Injectable } from '@nestjs/common';
import { createHash, randomInt } from 'node:crypto';
import { AuditService, type Actor } from '#records/audit/audit.service.js';
import { MESSAGES } from '#records/notifications/message-catalogue.js';
import { NotificationsService } from '#records/notifications/notifications.service.js';
import { RecoveryCodesRepository } from './recovery-codes.repository.js';

// Crockford's base32: no I, L, O and U, which are easily misread.
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const LENGTH = 16;
const GROUP = 4;

/** A new code with 80 random bits, such as `7k3m-q9ax-0c4d-w2rt`. */
export function newRecoveryCode(): string {
  const letters = Array.from({ length: LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]!).join('');
  return letters.match(new RegExp(`.{${GROUP}}`, 'g'))!.join('-');
}

/** The code as it was made, whatever it was typed like; undefined for what cannot be one. */
export function readRecoveryCode(typed: string): string | undefined {
  const letters = typed.toLowerCase().replace(/[\s-]/g, '').replaceAll('o', '0').replace(/[il]/g, '1');
  return letters.length === LENGTH && [...letters].every((letter) => ALPHABET.includes(letter))
    ? letters
    : undefined;
}

/** The digest under which a user's code is stored. It is random, so no slow hash is needed. */
export const recoveryCodeDigest = (userId: string, code: string): Buffer =>
  createHash('sha256')
    .update(`recovery code ${userId} ${readRecoveryCode(code)}`)
    .digest();

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
