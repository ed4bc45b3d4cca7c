import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Cookies } from '#platform/http/server/cookies.js';
import type { CsrfService } from '#platform/http/forms/csrf.service.js';
import type { PageAnswer } from '#platform/http/page-routes/page-answer.js';
import type { LayoutProps, Reader } from '#platform/web/layout/layout.js';
import type { SignedInUser } from '#access/users/sessions/signed-in-user.js';
import { UserPageContext } from '#access/users/sessions/user-page-context.js';
import type { ShownOnce } from '#access/users/sessions/shown-once.service.js';
import { say, text, type TextValues } from '#platform/language/text.js';
import { accountLayout, type AccountPage } from './pages/account-layout.js';
import { Allow } from 'class-validator';
import { PageQuery } from '#platform/http/api/page-query.js';

/** The query of a list of the account: like that of any list, with the language of the page. */
export class AccountListQuery extends PageQuery {
  @Allow() ui_locales?: unknown;
}

const NOTICES = {
  disconnected: say('Application disconnected.'),
  access_changed: say('Saved. The application may read what you chose.'),
  read: say('Notification marked as read.'),
  resolved: say('Notification marked as resolved.'),
  all_read: say('All notifications marked as read.'),
  password_changed: say(
    'Password changed. You are logged out everywhere else, and applications have to ask you again.',
  ),
  verification_sent: say('We sent a link to your address. Open it to confirm the address.'),
  mails_chosen: say('Your choice was saved.'),
  times_chosen: say('Times are shown as you chose, in this browser.'),
  signed_out: say('The session was logged out.'),
  others_signed_out: say('All other sessions were logged out.'),
  passkey_added: say('Passkey added. You can log in with it.'),
  passkey_renamed: say('Passkey renamed.'),
  passkey_removed: say('Passkey removed.'),
  app_added: say('Authenticator app set up. You are asked for its code after your password.'),
  app_removed: say('Authenticator app removed.'),
  confirmed: say('Thank you. You can continue.'),
  export_sent: say('We sent you a link to your data. It works once, within 24 hours.'),
  deletion_asked: say('Your account will be deleted, unless you keep it.'),
  account_kept: say('Your account stays.'),
} as const;

/** What a route of the account returns. */
export type AccountAnswer = PageAnswer<AccountPage, keyof typeof NOTICES>;

/** A user's request to their account, after its guard. */
export class AccountContext extends UserPageContext<AccountPage> {
  constructor(
    readonly user: SignedInUser,
    private readonly shownOnce: ShownOnce,
    /** Whether people log in with passwords here. */
    readonly withPassword: boolean,
    request: FastifyRequest,
    reply: FastifyReply,
    csrf: CsrfService,
    cookies: Cookies,
  ) {
    super({ name: 'account', notices: NOTICES, home: '/account' }, request, reply, csrf, cookies);
  }

  /** Without the query: these pages are compressed, so they echo nothing of the request. */
  override get reader(): Reader {
    return { ...super.reader, url: this.path };
  }
  /** An error of a form in the user's language. */
  readonly t = (english: string, values?: TextValues): string => text(this.reader.language, english, values);

  layOut(page: AccountPage): LayoutProps {
    return accountLayout(page, this.user, this.takeNotice());
  }

  override keepShown(path: string, value: object): void {
    this.shownOnce.keep(this.reply, this.user, path, value);
  }

  /** The `showOnce` value of the previous form; undefined if it was already shown. */
  takeShown(): unknown {
    return this.shownOnce.take(this.request, this.reply, this.user, this.path);
  }
}
