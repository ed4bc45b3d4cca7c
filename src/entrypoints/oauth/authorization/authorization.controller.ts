import { say } from '#platform/language/text.js';
import { Controller, Get, Post, Req, Res, UseGuards } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ConsentsService } from '#access/consents/consents.service.js';
import { ConsentApprovals } from '#access/consents/consent-approvals.service.js';
import { seenToRenew, stillAgreedTo, type ConsentEntity } from '#access/consents/consent.entity.js';
import { keptWords, type ConsentWords } from '#access/consents/record/consent-words.js';
import { accessWords, consentPageText } from '#access/consents/record/consent-page-text.js';
import { Cookies } from '#platform/http/server/cookies.js';
import { languageOf, rememberLanguage } from '#platform/http/server/request-language.js';
import { visitorOf } from '#platform/http/server/request-origin.js';
import { CsrfService } from '#platform/http/forms/csrf.service.js';
import { Form, queryStringOf, FormBody } from '#platform/http/forms/form.js';
import { LOGOUT_BINDING } from '#platform/http/page-routes/page-context.js';
import { renderPage } from '#platform/web/layout/layout.js';
import { PageRoute, sendPage } from '#platform/http/page-routes/send-page.js';
import { legible } from '#platform/http/validation/legible-text.js';
import { badRequest } from '#platform/http/problems/problem.js';
import { AddressRateLimitGuard } from '#platform/http/guards/address-rate-limit.guard.js';
import { PurposesService } from '#access/scopes/purposes/purposes.service.js';
import { ScopesService } from '#access/scopes/scopes.service.js';
import { confirmPathFor } from '#access/users/factors/factor-paths.js';
import { SecondFactorService } from '#access/users/factors/second-factor.service.js';
import type { SignedInUser } from '#access/users/sessions/signed-in-user.js';
import { SessionsService } from '#access/users/sessions/sessions.service.js';
import { lackIn } from './authentication-request.js';
import type { AuthorizationRequest } from './authorization-request.js';
import { ApiAuthorization } from './api-authorization.decorator.js';
import { AuthorizationRequestChecks } from './authorization-request.checks.js';
import { AuthorizationService } from './authorization.service.js';
import { SandboxAuthorization } from './sandbox-authorization.service.js';
import { approvalIn, SHOWN_AGAIN, type ShownAgain } from './consent-decision.js';
import { consentPage } from './pages/consent.page.js';
import { displayHostOf, formTargetOf } from './redirect.js';

const PATH = '/o/authorize/';
/** The last outcome only occurs in a sandbox. */
const DECISIONS = ['authorize', 'cancel', 'create_driver'];

/** The authorization endpoint (RFC 6749 §3.1, contract §3): checks, login, consent, and back to the client. */
@Controller('o/authorize')
@UseGuards(AddressRateLimitGuard)
export class AuthorizationController {
  constructor(
    private readonly checks: AuthorizationRequestChecks,
    private readonly authorization: AuthorizationService,
    private readonly sessions: SessionsService,
    private readonly consents: ConsentsService,
    private readonly approvals: ConsentApprovals,
    private readonly scopes: ScopesService,
    private readonly purposes: PurposesService,
    private readonly csrf: CsrfService,
    private readonly sandbox: SandboxAuthorization,
    private readonly cookies: Cookies,
    private readonly factors: SecondFactorService,
  ) {}

  /** Shows the consent page. Without a session it redirects to the login page. */
  @Get()
  @PageRoute()
  @ApiAuthorization()
  async show(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const authorizationRequest = await this.checked(Form.parse(queryStringOf(request.url)), reply, 302);
    if (!authorizationRequest) return;
    request.pushedLocales = authorizationRequest.pushed?.uiLocales;
    if (isInSandbox(authorizationRequest)) return this.sandbox.show(authorizationRequest, request, reply);
    const user = await this.sessions.current(request);
    rememberLanguage(request, reply, this.cookies);
    if (!user) return this.toSignIn(authorizationRequest, reply, 302);
    const first = await this.leadingToLogin(authorizationRequest, user);
    if (first !== undefined) return this.redirect(reply, 302, first);
    await this.sendConsentPage(authorizationRequest, user, request, reply);
  }

  /**
   * Where the browser goes before the consent page if the request asks for a better login (RFC 9470 §4): to log in again and come back;
   * or back to the client, if the user cannot have one.
   */
  private async leadingToLogin(
    { authentication, redirectUri, state, source }: AuthorizationRequest,
    user: SignedInUser,
    when: 'shown' | 'decided' = 'shown',
  ): Promise<string | undefined> {
    const lack = authentication && lackIn(authentication, user);
    if (!lack || (when === 'decided' && lack === 'recent login')) return undefined;
    if (lack === 'factor' && !(await this.factors.canGive(user))) {
      const [error, description] = [
        'unmet_authentication_requirements',
        'The user has no second factor.',
      ] as const;
      return this.authorization.refuse(redirectUri, state, error, description);
    }
    return confirmPathFor(`${PATH}?${source}`);
  }

  /**
   * Handles the user's decision. The form is bound to the user and the request that it showed, and the request is checked again; the page
   * of a form that is out of date, as when the session was renewed in another tab, is shown again.
   * This is not done in a guard, which would first have to check the request and find the user, as this does.
   */
  @Post()
  @PageRoute()
  async decide(
    @FormBody() form: Form,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const source = form.get('request');
    const decision = form.get('decision');
    if (source === undefined || decision === undefined || !DECISIONS.includes(decision)) {
      throw incomplete();
    }
    const authorizationRequest = await this.checked(Form.parse(source), reply, 303, form);
    if (!authorizationRequest) return;
    if (isInSandbox(authorizationRequest)) {
      const decided = await this.sandbox.decide(authorizationRequest, decision, form, request);
      if ('goTo' in decided) return this.redirect(reply, 303, decided.goTo);
      return this.sandbox.show(authorizationRequest, request, reply, decided.shownAgain);
    }
    if (decision === 'create_driver') throw incomplete();
    const user = await this.sessions.current(request);
    if (!user) return this.toSignIn(authorizationRequest, reply, 303);
    if (this.csrf.isOutOfDate(request, form, consentBinding(user, source))) {
      return this.sendConsentPage(authorizationRequest, user, request, reply, 'out of date');
    }
    if (decision === 'cancel') {
      return this.redirect(reply, 303, await this.authorization.cancel(authorizationRequest));
    }
    // The page was only shown after the login was recent enough, and may be read for longer than that.
    const first = await this.leadingToLogin(authorizationRequest, user, 'decided');
    if (first !== undefined) return this.redirect(reply, 303, first);
    const consent = await this.consents.findLive(authorizationRequest.client.id, user.id);
    const words = await this.wordsFor(authorizationRequest, user, consent, request);
    const approval = approvalIn(form, words, 'page');
    if (typeof approval === 'string') {
      return this.sendConsentPage(authorizationRequest, user, request, reply, approval);
    }
    const actor = { ...visitorOf(request), id: user.id };
    this.redirect(reply, 303, await this.authorization.approve(authorizationRequest, user, approval, actor));
  }

  /** The valid request; undefined after an error was sent, as a page or to the redirect URI. */
  private async checked(
    query: Form,
    reply: FastifyReply,
    status: number,
    posted?: Form,
  ): Promise<AuthorizationRequest | undefined> {
    const checked = await this.checks.check(query, posted);
    if (checked.outcome === 'request') return checked.request;
    if (checked.outcome === 'page') throw badRequest(checked.detail);
    const { redirectUri, state, error, description } = checked;
    this.redirect(reply, status, this.authorization.refuse(redirectUri, state, error, description));
    return undefined;
  }

  private toSignIn({ source }: AuthorizationRequest, reply: FastifyReply, status: number): void {
    const query = new URLSearchParams({ return_to: `${PATH}?${source}` });
    this.redirect(reply, status, `/login?${query.toString()}`);
  }

  private redirect(reply: FastifyReply, status: number, location: string): void {
    void reply.header('cache-control', 'no-store').redirect(location, status);
  }

  private async sendConsentPage(
    authorizationRequest: AuthorizationRequest,
    user: SignedInUser,
    request: FastifyRequest,
    reply: FastifyReply,
    why?: ShownAgain,
  ): Promise<void> {
    const { client, redirectUri, source } = authorizationRequest;
    const consent = await this.consents.findLive(client.id, user.id);
    const words = await this.wordsFor(authorizationRequest, user, consent, request);
    const page = consentPage({
      words,
      reader: { language: languageOf(request), url: `${PATH}?${source}` },
      identity: client,
      shown: keptWords(words).digest.toString('hex'),
      user,
      alreadyConsented: consent ? stillAgreedTo(consent) : [],
      request: source,
      returnTo: `${PATH}?${source}`,
      redirectHost: displayHostOf(redirectUri),
      problem: why && SHOWN_AGAIN[why],
    });
    const tokenFor = (action: string) =>
      this.csrf.tokenFor(request, reply, action === PATH ? consentBinding(user, source) : LOGOUT_BINDING);
    const status = why ? 422 : 200;
    sendPage(reply, renderPage(page, reply.server.brand, tokenFor), {
      status,
      formTarget: formTargetOf(redirectUri),
    });
  }

  private async wordsFor(
    { client, scopes, redirectUri }: AuthorizationRequest,
    user: SignedInUser,
    consent: ConsentEntity | null,
    request: FastifyRequest,
  ): Promise<ConsentWords> {
    // Contract §2: who agrees to a part does not renew the rest.
    const keepsEnd = consent?.expiresAt && seenToRenew(consent).some((name) => !scopes.includes(name));
    return consentPageText({
      language: languageOf(request),
      application: legible(client.name),
      organisation: client.organisation === null ? null : legible(client.organisation),
      access: accessWords(client, await this.scopes.describe(scopes), languageOf(request)),
      purposes: await this.purposes.wordsOf(client.purposes, languageOf(request)),
      expiryDays: keepsEnd ? 'as before' : this.approvals.expiryDaysOf(client),
      redirectHost: displayHostOf(redirectUri),
      // Contract §6: with this token the owner of a confidential client can open the portal, so the page says so.
      isOwned: client.type === 'confidential' && client.ownerId === user.id,
    });
  }
}

const incomplete = () =>
  badRequest(say('The form is incomplete. Please go back to the application and start again.'));

const isInSandbox = ({ client }: AuthorizationRequest): boolean => client.environment === 'sandbox';

const consentBinding = (user: SignedInUser, source: string): string =>
  `consent ${user.id} ${user.sessionDigest.toString('base64url')} ${source}`;
