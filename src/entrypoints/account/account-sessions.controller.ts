import { Param, Query } from '@nestjs/common';
import { Context } from '#platform/http/page-routes/page-context.js';
import { pageRequestOf } from '#platform/http/api/page-query.js';
import { badRequest } from '#platform/http/problems/problem.js';
import { TIME_CHOICES } from '#platform/http/server/request-time-zone.js';
import { say } from '#platform/language/text.js';
import { IdentitiesService } from '#access/identity-providers/identities.service.js';
import { SessionsService } from '#access/users/sessions/sessions.service.js';
import { type AccountAnswer, type AccountContext, AccountListQuery } from './account-context.js';
import { AccountGet, AccountPages, AccountPost } from './account.guard.js';
import { sessionsPage } from './pages/sessions.page.js';

const PATH = '/account/sessions';

/** The sessions of a user, and logging them out. */
@AccountPages('sessions')
export class AccountSessionsController {
  constructor(
    private readonly sessions: SessionsService,
    private readonly identities: IdentitiesService,
  ) {}

  @AccountGet()
  async list(@Context() context: AccountContext, @Query() query: AccountListQuery): Promise<AccountAnswer> {
    const [sessions, identities] = await Promise.all([
      this.sessions.list(context.user, pageRequestOf(query)),
      this.identities.list(context.user.id),
    ]);
    const { timeChoice: times, withPassword } = context;
    return { page: sessionsPage({ ...sessions, identities, times, withPassword }) };
  }

  /** Chooses the time zone in which this browser shows times. */
  @AccountPost('times')
  chooseTimes(@Context() context: AccountContext): AccountAnswer {
    const choice = TIME_CHOICES.find((each) => each === context.form.get('times'));
    if (!choice) throw badRequest(say('The form is incomplete. Go back, reload the page and try again.'));
    context.rememberTimeChoice(choice);
    return { goTo: PATH, notice: 'times_chosen' };
  }

  /** Logs out all other sessions; succeeds also if there are none. */
  @AccountPost('sign_out_elsewhere')
  async endOthers(@Context() context: AccountContext): Promise<AccountAnswer> {
    await this.sessions.endOthers(context.user, context.actor);
    return { goTo: PATH, notice: 'others_signed_out' };
  }

  /** Logs out one session; 404 for a session that is not the user's or has ended. */
  @AccountPost(':id')
  async end(@Context() context: AccountContext, @Param('id') id: string): Promise<AccountAnswer> {
    await this.sessions.end(context.user, id, context.actor);
    return { goTo: PATH, notice: 'signed_out' };
  }
}
