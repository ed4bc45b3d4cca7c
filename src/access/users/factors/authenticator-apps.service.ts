import { say } from '#platform/language/text.js';
import { Injectable } from '@nestjs/common';
import { AuditService, type Actor } from '#records/audit/audit.service.js';
import { BrandService } from '#records/brand/brand.service.js';
import { Settings } from '#platform/config/settings.js';
import { AccessChanges } from '#platform/database/changes/access-changes.service.js';
import { notFound } from '#platform/http/problems/problem.js';
import { SealedBox } from '#platform/secrets/sealed-box.js';
import type { SignedInUser } from '../sessions/signed-in-user.js';
import { AuthenticatorAppsRepository } from './authenticator-apps.repository.js';
import { newTotpSecret, stepOfCode, totpUri } from './one-time-passwords.js';
import { SecondFactorService } from './second-factor.service.js';

const SET_UP_SECONDS = 3600;
const BATCH = 500;

/** An app that is being set up: its secret, and the same sealed, for the form that brings it back. */
export interface AppSetUp {
  secret: string;
  uri: string;
  sealed: string;
}

/** Authenticator apps (RFC 6238): setting one up, checking its codes, removing it. */
@Injectable()
export class AuthenticatorAppsService {
  private readonly box: SealedBox;

  constructor(
    private readonly apps: AuthenticatorAppsRepository,
    private readonly factors: SecondFactorService,
    private readonly audit: AuditService,
    private readonly brand: BrandService,
    private readonly changes: AccessChanges,
    settings: Settings,
  ) {
    this.box = new SealedBox('authenticator app', settings.encryptionKeys);
  }

  /** A new secret. It is stored once a code of it was typed in: until then it travels in the form, sealed for this session. */
  begin(user: SignedInUser): AppSetUp {
    const secret = newTotpSecret();
    const until = this.changes.databaseNow + SET_UP_SECONDS * 1000;
    return this.setUpOf(user, secret, this.box.seal(JSON.stringify({ secret, until }), formOf(user)));
  }

  /** What a form brought back; undefined if it is too old or not of this session. */
  resume(user: SignedInUser, sealed: string): AppSetUp | undefined {
    const bytes = Buffer.from(sealed, 'base64url');
    const text = this.box.open(bytes, formOf(user));
    if (text === undefined) return undefined;
    const { secret, until } = JSON.parse(text) as { secret: string; until: number };
    return until > this.changes.databaseNow ? this.setUpOf(user, secret, bytes) : undefined;
  }

  /**
   * Stores the app, in place of the one before, if the code is one of its. The code is then used up. Returns recovery codes if
   * there are none. If the form was sent twice, the browser shows only the second answer: that has new codes in place of those of the first.
   */
  async confirm(
    user: SignedInUser,
    secret: string,
    code: string,
    actor: Actor,
  ): Promise<{ recoveryCodes: string[] | undefined } | undefined> {
    const step = stepOfCode(secret, code);
    if (step === undefined) return undefined;
    const recoveryCodes = await this.factors.add(user, 'app', actor, async () => {
      const stored = await this.apps.find(user.id);
      if (stored && this.box.open(stored.sealedSecret, user.id) === secret) {
        await this.apps.useStep(stored, step);
        return { addedAt: stored.confirmedAt };
      }
      await this.apps.replace(user.id, this.box.seal(secret, user.id), step);
      await this.audit.record(actor, {
        action: 'user.authenticator_app_added',
        subjectId: user.id,
        after: { replaced: stored !== null },
      });
      return 'added';
    });
    return { recoveryCodes };
  }

  /** Uses up the code; false if it is wrong, or was used. */
  async use(userId: string, code: string): Promise<boolean> {
    const app = await this.apps.find(userId);
    const secret = app && this.box.open(app.sealedSecret, userId);
    const step = secret ? stepOfCode(secret, code) : undefined;
    return step !== undefined && this.apps.useStep(app!, step);
  }

  /** Removes the user's app; throws a 404 problem if it does not exist, and a 409 problem if the user must keep it. */
  remove(user: SignedInUser, actor: Actor): Promise<void> {
    return this.factors.remove(user, 'app', actor, async () => {
      if (!(await this.apps.delete(user.id))) throw notFound(say('You have no authenticator app.'));
      await this.audit.record(actor, {
        action: 'user.authenticator_app_removed',
        subjectId: user.id,
      });
    });
  }

  /** Seals every secret under the current `ENCRYPTION_KEY`. Returns how many were resealed, and which cannot be decrypted. */
  async reseal(): Promise<{ resealed: number; unreadable: string[] }> {
    let resealed = 0;
    const unreadable: string[] = [];
    for (let after = ''; ;) {
      const batch = await this.apps.sealedAfter(after, BATCH);
      for (const app of batch) {
        const secret = this.box.open(app.sealedSecret, app.userId);
        if (secret === undefined) unreadable.push(`authenticator app of ${app.userId}`);
        else if (await this.apps.replaceSealed(app, this.box.seal(secret, app.userId))) resealed++;
      }
      if (batch.length < BATCH) return { resealed, unreadable };
      after = batch.at(-1)!.userId;
    }
  }

  private setUpOf({ email }: SignedInUser, secret: string, sealed: Buffer): AppSetUp {
    return {
      secret,
      uri: totpUri(secret, email, this.brand.current.name),
      sealed: sealed.toString('base64url'),
    };
  }
}

const formOf = (user: SignedInUser): string =>
  `set up ${user.id} ${user.sessionDigest.toString('base64url')}`;
