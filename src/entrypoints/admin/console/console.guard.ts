import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Settings } from '#platform/config/settings.js';
import { roleIncludes, roleNeeded, type OperatorRole } from '#platform/config/operator-role.js';
import { roleTooLow } from '#platform/http/problems/problem.js';
import { formOf, isPosted } from '#platform/http/forms/form.js';
import { RoleProviders } from '#access/identity-providers/sign-in/role-providers.service.js';
import { renderPage, type LayoutProps } from '#platform/web/layout/layout.js';
import { messagePage } from '#platform/web/layout/message.page.js';
import { sendPage } from '#platform/http/page-routes/send-page.js';
import type { SignedInUser } from '#access/users/sessions/signed-in-user.js';
import { confirmPathFor } from '#access/users/factors/factor-paths.js';
import { SecondFactorService } from '#access/users/factors/second-factor.service.js';
import { OperatorProtectionService } from '#access/users/accounts/operator-protection.service.js';
import { SignedInUsers } from '#access/users/sessions/signed-in-users.service.js';
import { isId } from '#platform/secrets/ids.js';
import { leastRoleOf } from '../least-role.js';
import { mayUseRoute } from './console-routes.js';
import { CONSOLE_PATH, ConsoleContext, ConsoleServices } from './console-context.js';
import { confirmPasswordPath, consolePathIn, PASSWORD_RULE, type PasswordRule } from './password-rule.js';
import { exchangeOf, redirectInstead } from '#platform/http/server/exchange.js';

/**
 * Admits logged-in operators to the console, and forms that come from its pages. Every POST is checked here, so that no page can
 * forget it; so is whether the password was entered recently, if the route requires that (contract §12). Without a login,
 * redirects to the login page. Users who are not operators, or whose role is too low, get a page with status 403. Operators who
 * need a second factor are led to it first (contract §16), and those whose role a provider decides to the provider (contract §17).
 */
@Injectable()
export class ConsoleGuard implements CanActivate {
  constructor(
    private readonly users: SignedInUsers,
    private readonly services: ConsoleServices,
    private readonly factors: SecondFactorService,
    private readonly roleProviders: RoleProviders,
    private readonly protection: OperatorProtectionService,
    private readonly reflector: Reflector,
    private readonly settings: Settings,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const { request, reply } = exchangeOf(context);
    const user = await this.admit(request, reply);
    if (!user?.operatorRole) return false;
    const returnTo = returnToOf(request);
    const missing = (await this.roleProviders.requiredFor(user))
      ? confirmPathFor(returnTo)
      : await this.factors.leadingToFactor(user, returnTo);
    if (missing !== undefined) return redirectInstead(reply, missing);
    const page = new ConsoleContext(user, user.operatorRole, this.services, request, reply);
    request.pageContext = page;
    page.isAboutOperator = await this.isAboutOperator(user.operatorRole, request);
    const least = leastRoleOf(this.reflector, context);
    if (!roleIncludes(user.operatorRole, least)) {
      throw roleTooLow(`${roleNeeded(least)} Your role is ${user.operatorRole}: an admin can change it.`);
    }
    if (isPosted(request)) page.checkForm();
    const method = isPosted(request) ? 'POST' : 'GET';
    if (page.isAboutOperator && !mayUseRoute('viewer', method, page.path)) {
      throw roleTooLow(`This user is an operator. ${roleNeeded('admin')}`);
    }
    const rule = this.reflector.get<PasswordRule>(PASSWORD_RULE, context.getHandler());
    const asksAt = user.gavePasswordRecently ? undefined : this.returnPathOf(rule, request, page);
    if (asksAt !== undefined) return redirectInstead(reply, confirmPasswordPath(asksAt));
    return true;
  }

  /** The logged-in operator; anybody else is answered. Also asked before the body of an upload is read. */
  async admit(request: FastifyRequest, reply: FastifyReply): Promise<SignedInUser | undefined> {
    const user = await this.users.admit(request, reply, returnToOf(request));
    if (user?.operatorRole !== null) return user;
    sendPage(reply, renderPage(notForYou(), reply.server.brand), { status: 403 });
    return undefined;
  }

  /** Whether the page is about someone who counts as an operator; not looked up for admins, whom that does not limit. */
  private async isAboutOperator(role: OperatorRole, request: FastifyRequest): Promise<boolean> {
    if (role === 'admin') return false;
    // Not the path of the request, whose letters may be encoded.
    const route = request.routeOptions.url;
    const { id, user_id: userId } = request.params as { id?: string; user_id?: string };
    const subject = userId ?? (route?.startsWith(`${CONSOLE_PATH}/users/`) ? id : undefined);
    return subject !== undefined && isId('user', subject) && this.protection.countsById(subject);
  }

  /** Where to return to after the password was entered; undefined if the guard does not ask for it. */
  private returnPathOf(
    rule: PasswordRule,
    request: FastifyRequest,
    { url, path, user }: ConsoleContext,
  ): string | undefined {
    // Authenticating at a provider is not possible within a form.
    const isWithoutPassword =
      user.method === 'provider' || !user.hasPassword || !this.settings.passwordSignIn;
    const isAsked = rule === 'asked' || (rule === 'asked in the form' && isWithoutPassword);
    if (isAsked) return isPosted(request) ? path : url;
    if (rule !== 'asked on the page above') return undefined;
    const above = path.slice(0, path.lastIndexOf('/'));
    return consolePathIn(formOf(request).get('return_to') ?? above);
  }
}

const returnToOf = (request: FastifyRequest): string => (isPosted(request) ? CONSOLE_PATH : request.url);

const notForYou = (): LayoutProps =>
  messagePage({
    title: 'For operators',
    heading: 'This page is for operators',
    text: 'You are logged in, but your account has no access to the console. If it should, ask an operator.',
    action: { href: '/account', label: 'Go to your account' },
  });
