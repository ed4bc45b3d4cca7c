import { Param, UseGuards } from '@nestjs/common';
import { Settings } from '#platform/config/settings.js';
import { AddressRateLimitGuard } from '#platform/http/guards/address-rate-limit.guard.js';
import { ReadsMuch } from '#platform/http/page-routes/large-reads.js';
import { Context } from '#platform/http/page-routes/page-context.js';
import { MailLimitsService } from '#access/rate-limits/sign-in/mail-limits.service.js';
import { UsersService } from '#access/users/accounts/users.service.js';
import { DataExportsService, fileOf } from '#access/users/closing/data-exports.service.js';
import type { AccountAnswer, AccountContext } from './account-context.js';
import { AsksToConfirm, AccountGet, AccountPages, AccountPost } from './account.guard.js';
import {
  askForExportPage,
  downloadPage,
  EXPORT_PATH,
  exportGonePage,
  exportPage,
} from './pages/export.pages.js';

/** Users download what is held about them, by a mailed link, or directly if there is no mail (contract §13). */
@AccountPages('export')
@UseGuards(AddressRateLimitGuard)
export class AccountExportController {
  constructor(
    private readonly exports: DataExportsService,
    private readonly users: UsersService,
    private readonly limits: MailLimitsService,
    private readonly settings: Settings,
  ) {}

  @AccountGet('', AsksToConfirm())
  async ask(@Context() { user }: AccountContext): Promise<AccountAnswer> {
    if (!this.settings.sendsMail) return { page: downloadPage() };
    const { emailVerifiedAt } = await this.users.get(user.id);
    return { page: askForExportPage(user.email, emailVerifiedAt ? undefined : 'unverified') };
  }

  /**
   * Mails the link; 409 for an address that is not verified, 429 over the hourly limit of mails (contract §18). Without mail it redirects to
   * where the link would lead.
   */
  @AccountPost('', AsksToConfirm())
  async send(@Context() context: AccountContext): Promise<AccountAnswer> {
    const { user, actor } = context;
    const { emailVerifiedAt } = await this.users.get(user.id);
    const isMailed = this.settings.sendsMail && emailVerifiedAt !== null;
    const seconds = isMailed ? await this.limits.waitFor(user.email) : undefined;
    if (seconds !== undefined) {
      context.retryAfter(seconds);
      return { page: askForExportPage(user.email, 'over limit'), status: 429 };
    }
    const made = await this.exports.request(user.id, actor);
    if (!made) return { page: askForExportPage(user.email, 'unverified'), status: 409 };
    return made.key ? { goTo: `${EXPORT_PATH}/${made.key}` } : { goTo: EXPORT_PATH, notice: 'export_sent' };
  }

  /** Shows what there is. Opening the link changes nothing, because mail scanners open links too; 410 if it does not work for this user. */
  @AccountGet(':key', AsksToConfirm())
  @ReadsMuch()
  async show(@Context() { user, reader }: AccountContext, @Param('key') key: string): Promise<AccountAnswer> {
    const data = await this.exports.show(user.id, key, reader.language);
    return data ? { page: exportPage(data, `${EXPORT_PATH}/${key}`) } : gone();
  }

  /** Sends the file, once. */
  @AccountPost(':key', AsksToConfirm())
  @ReadsMuch()
  async download(
    @Context() { user, actor, reader }: AccountContext,
    @Param('key') key: string,
  ): Promise<AccountAnswer> {
    const data = await this.exports.take(user.id, key, actor, reader.language);
    if (!data) return gone();
    const name = `my-data-${data.madeAt.toISOString().slice(0, 10)}.json`;
    return { file: { name, type: 'application/json; charset=utf-8', text: fileOf(data, user.id) } };
  }
}

const gone = (): AccountAnswer => ({ page: exportGonePage(), status: 410 });
