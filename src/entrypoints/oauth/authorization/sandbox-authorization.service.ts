import { say } from '#platform/language/text.js';
import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CsrfService } from '#platform/http/forms/csrf.service.js';
import type { Form } from '#platform/http/forms/form.js';
import { sendPage } from '#platform/http/page-routes/send-page.js';
import { badRequest } from '#platform/http/problems/problem.js';
import { originOf } from '#platform/http/server/request-origin.js';
import { legible } from '#platform/http/validation/legible-text.js';
import { MembersService } from '#events/partners/members/members.service.js';
import { sandboxOf, type Sandbox } from '#events/sandbox/driver.js';
import { DriversService } from '#events/sandbox/drivers.service.js';
import { PurposesService } from '#access/scopes/purposes/purposes.service.js';
import { ScopesService } from '#access/scopes/scopes.service.js';
import { SessionsService } from '#access/users/sessions/sessions.service.js';
import { renderPage } from '#platform/web/layout/layout.js';
import { ConsentApprovals, type Approval } from '#access/consents/consent-approvals.service.js';
import { keptWords, type ConsentWords } from '#access/consents/record/consent-words.js';
import { accessWords, sandboxPageText } from '#access/consents/record/consent-page-text.js';
import type { AuthorizationRequest } from './authorization-request.js';
import { approvalIn, SHOWN_AGAIN, type ShownAgain } from './consent-decision.js';
import { AuthorizationService } from './authorization.service.js';
import { sandboxConsentPage } from './pages/sandbox-consent.page.js';
import { displayHostOf, formTargetOf } from './redirect.js';

const PATH = '/o/authorize/';

/** The authorization page of a client in a sandbox (contract §19): nobody logs in; the visitor chooses a driver instead. */
@Injectable()
export class SandboxAuthorization {
  constructor(
    private readonly drivers: DriversService,
    private readonly authorization: AuthorizationService,
    private readonly members: MembersService,
    private readonly sessions: SessionsService,
    private readonly scopes: ScopesService,
    private readonly purposes: PurposesService,
    private readonly csrf: CsrfService,
    private readonly approvals: ConsentApprovals,
  ) {}

  async show(
    authorizationRequest: AuthorizationRequest,
    request: FastifyRequest,
    reply: FastifyReply,
    why?: ShownAgain,
  ): Promise<void> {
    const { client, redirectUri, source } = authorizationRequest;
    const visitor = await this.sessions.current(request);
    // Anyone with the client's id can open this page, so the names that partners give their drivers are only for members.
    const isMember = visitor !== undefined && (await this.members.isMember(client.ownerId, visitor.id));
    const drivers = await this.drivers.listAll(sandboxOf(client)!);
    const words = await this.wordsFor(authorizationRequest);
    const page = sandboxConsentPage({
      words,
      identity: client,
      shown: keptWords(words).digest.toString('hex'),
      problem: why && SHOWN_AGAIN[why],
      drivers: drivers.map(({ id, name, seed }, index) => ({
        id,
        label: isMember ? `${name} (seed ${seed})` : `Driver ${index + 1}`,
      })),
      showsNames: isMember,
      login: visitor
        ? undefined
        : `/login?${new URLSearchParams({ return_to: `${PATH}?${source}` }).toString()}`,
      request: source,
      redirectHost: displayHostOf(redirectUri),
    });
    const tokenFor = () => this.csrf.tokenFor(request, reply, bindingOf(source));
    const status = why ? 422 : 200;
    sendPage(reply, renderPage(page, reply.server.brand, tokenFor), {
      status,
      formTarget: formTargetOf(redirectUri),
    });
  }

  /**
   * Where the form redirects to: back to the client, or to this page after a driver was created; or why the page is shown again.
   */
  async decide(
    authorizationRequest: AuthorizationRequest,
    decision: string,
    form: Form,
    request: FastifyRequest,
  ): Promise<{ goTo: string } | { shownAgain: ShownAgain }> {
    const { client, source } = authorizationRequest;
    if (this.csrf.isOutOfDate(request, form, bindingOf(source))) return { shownAgain: 'out of date' };
    const sandbox = sandboxOf(client)!;
    switch (decision) {
      case 'cancel':
        return { goTo: await this.authorization.cancel(authorizationRequest) };
      case 'create_driver':
        await this.drivers.createFirst(sandbox, { type: 'client', id: client.id, ...originOf(request) });
        return { goTo: `${PATH}?${source}` };
      default: {
        const approval = approvalIn(form, await this.wordsFor(authorizationRequest), 'sandbox');
        if (typeof approval === 'string') return { shownAgain: approval };
        return { goTo: await this.approve(authorizationRequest, sandbox, form, approval, request) };
      }
    }
  }

  private async approve(
    authorizationRequest: AuthorizationRequest,
    sandbox: Sandbox,
    form: Form,
    approval: Approval,
    request: FastifyRequest,
  ): Promise<string> {
    const drivers = await this.drivers.listAll(sandbox);
    const driver = drivers.find(({ id }) => id === form.get('driver'));
    if (!driver) {
      throw badRequest(
        say('There is no such driver any more. Please go back to the application and start again.'),
      );
    }
    const actor = { type: 'user', id: driver.id, ...originOf(request) } as const;
    return this.authorization.approve(authorizationRequest, { id: driver.id }, approval, actor);
  }

  private async wordsFor({ client, scopes, redirectUri }: AuthorizationRequest): Promise<ConsentWords> {
    return sandboxPageText({
      application: legible(client.name),
      organisation: client.organisation === null ? null : legible(client.organisation),
      access: accessWords(client, await this.scopes.describe(scopes), 'en'),
      purposes: await this.purposes.wordsOf(client.purposes, 'en'),
      expiryDays: this.approvals.expiryDaysOf(client),
      redirectHost: displayHostOf(redirectUri),
    });
  }
}

const bindingOf = (source: string): string => `sandbox consent ${source}`;
