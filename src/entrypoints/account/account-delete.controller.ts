import { Settings } from '#platform/config/settings.js';
import { OpenGet, OpenPages, type OpenAnswer } from '#platform/http/page-routes/open-pages.js';
import { Context } from '#platform/http/page-routes/page-context.js';
import { ConnectedClientsService } from '#access/tokens/grants/connected-clients.service.js';
import { emailKeyOf } from '#access/users/accounts/email.js';
import { AccountDeletionsService } from '#access/users/closing/account-deletions.service.js';
import type { FieldErrors } from '#platform/web/forms/field.js';
import type { AccountAnswer, AccountContext } from './account-context.js';
import { AsksToConfirm, AccountGet, AccountPages, AccountPost } from './account.guard.js';
import {
  DELETE_PATH,
  DELETED_PATH,
  deletedPage,
  deletePage,
  deletionPage,
  obstaclePage,
} from './pages/delete.pages.js';

const APPLICATIONS_NAMED = 25;

/** Users request the deletion of their account, and can withdraw that (contract §13). */
@AccountPages('delete')
export class AccountDeleteController {
  constructor(
    private readonly deletions: AccountDeletionsService,
    private readonly connected: ConnectedClientsService,
    private readonly settings: Settings,
  ) {}

  @AccountGet('', AsksToConfirm())
  async ask(@Context() context: AccountContext): Promise<AccountAnswer> {
    const waiting = await this.deletions.find(context.user.id);
    if (waiting) return { page: deletionPage(waiting.dueAt) };
    const obstacle = await this.deletions.obstacleFor(context.user.id);
    return obstacle ? { page: obstaclePage(obstacle) } : this.form(context);
  }

  /** Takes the address of the account, in any letter case. 409 if something has to end first. */
  @AccountPost('', AsksToConfirm())
  async request(@Context() context: AccountContext): Promise<AccountAnswer> {
    const { user, actor, form, t } = context;
    const typed = (form.get('email') ?? '').trim();
    if (emailKeyOf(typed) !== emailKeyOf(user.email)) {
      return this.form(context, { email: t('This is not the email address of your account.') });
    }
    const outcome = await this.deletions.request(user.id, actor);
    if ('obstacle' in outcome) return { page: obstaclePage(outcome.obstacle), status: 409 };
    if ('dueAt' in outcome) return { goTo: DELETE_PATH, notice: 'deletion_asked' };
    return { goTo: DELETED_PATH };
  }

  /** Doing it twice has the same result. */
  @AccountPost('keep')
  async keep(@Context() { user, actor }: AccountContext): Promise<AccountAnswer> {
    await this.deletions.keep(user.id, actor);
    return { goTo: '/account', notice: 'account_kept' };
  }

  private async form({ user }: AccountContext, errors?: FieldErrors): Promise<AccountAnswer> {
    const { items, hasNext } = await this.connected.list(user.id, { size: APPLICATIONS_NAMED });
    const { accountDeletionDays: days } = this.settings;
    const { email } = user;
    const page = deletePage({ email, applications: items, hasMore: hasNext, days, errors });
    return { page, status: errors ? 400 : 200 };
  }
}

/** The page after the deletion, when there is no account any more. */
@OpenPages('account-deleted')
export class AccountDeletedController {
  @OpenGet()
  show(): OpenAnswer {
    return { page: deletedPage() };
  }
}
