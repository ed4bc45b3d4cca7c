import { Req, Res, UseGuards } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AddressRateLimitGuard } from '#platform/http/guards/address-rate-limit.guard.js';
import { AFTER_LOGIN, safeReturnTo } from '#platform/http/forms/return-to.js';
import {
  OpenGet,
  OpenPages,
  OpenPost,
  OUT_OF_DATE,
  ShowsAgain,
} from '#platform/http/page-routes/open-pages.js';
import type { OpenAnswer, OpenContext } from '#platform/http/page-routes/open-pages.js';
import { Context } from '#platform/http/page-routes/page-context.js';
import { visitorOf } from '#platform/http/server/request-origin.js';
import { SignInLimitsService } from '#access/rate-limits/sign-in/sign-in-limits.service.js';
import { PendingSignInsService, type PendingSignIn } from '#access/users/factors/pending-sign-ins.service.js';
import { SecondFactorService } from '#access/users/factors/second-factor.service.js';
import { SessionsService } from '#access/users/sessions/sessions.service.js';
import { secondFactorPage, signInExpiredPage } from './second-factor.page.js';
import { say } from '#platform/language/text.js';

/** The step after the right password of an account with a second factor (contract §16). */
@OpenPages('login/second-factor')
@UseGuards(AddressRateLimitGuard)
export class SecondFactorController {
  constructor(
    private readonly sessions: SessionsService,
    private readonly limits: SignInLimitsService,
    private readonly factors: SecondFactorService,
    private readonly pending: PendingSignInsService,
  ) {}

  /** Asks for a code; a browser that did not give the password in the last ten minutes is told to start again. */
  @OpenGet()
  async show(@Context() { query }: OpenContext, @Req() request: FastifyRequest): Promise<OpenAnswer> {
    const returnTo = safeReturnTo(query.get('return_to'));
    const pending = await this.pending.find(request);
    return pending ? this.form(pending, { returnTo }) : expired(returnTo);
  }

  /** Logs in with a code of the app or a recovery code. Wrong codes count like wrong passwords. A form that is out of date is shown again. */
  @OpenPost('', ShowsAgain())
  async signIn(
    @Context() context: OpenContext,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<OpenAnswer> {
    const { formOutOfDate } = context;
    const form = formOutOfDate ?? context.form;
    const returnTo = safeReturnTo(form.get('return_to'));
    const pending = await this.pending.find(request);
    if (!pending) return expired(returnTo);
    if (formOutOfDate)
      return { ...(await this.form(pending, { returnTo, error: OUT_OF_DATE })), status: 422 };
    const actor = visitorOf(request);
    const attempt = await this.limits.admit(request, pending.user.email);
    const signIn = { method: 'password', gaveSecondFactor: true } as const;
    const proof = this.pending.proofOf(pending, form.get('code') ?? '', actor);
    const isNew = !attempt.isKnownBrowser;
    const isSignedIn = await this.limits.compare(attempt, () =>
      this.sessions.start(request, reply, pending.user, signIn, actor, isNew, async () => {
        attempt.isWrong = !(await proof());
        return !attempt.isWrong;
      }),
    );
    await this.limits.settle(attempt, isSignedIn ? pending.user : undefined, request, reply);
    if (!isSignedIn) {
      return this.form(pending, { returnTo, error: say('This code is wrong, or was used already.') });
    }
    await this.pending.end(request, reply);
    return { goTo: returnTo ?? AFTER_LOGIN };
  }

  private async form({ user }: PendingSignIn, props: { returnTo?: string; error?: string }) {
    const { passkeys, authenticatorApp } = await this.factors.stateOf(user.id);
    return {
      page: secondFactorPage({ ...props, hasPasskeys: passkeys > 0, hasApp: authenticatorApp }),
      status: props.error ? 401 : 200,
    } satisfies OpenAnswer;
  }
}

const expired = (returnTo: string | undefined): OpenAnswer => ({
  page: signInExpiredPage(returnTo),
  status: 401,
});
