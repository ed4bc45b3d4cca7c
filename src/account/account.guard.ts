import { Injectable, SetMetadata, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Settings } from '../config/settings.js';
import { Cookies } from '../http/server/cookies.js';
import { CsrfService } from '../http/forms/csrf.service.js';
import { isPosted, refuseOddForm } from '../http/page-routes/posted-form.js';
import { SignedInUsers } from '../users/sessions/signed-in-users.service.js';
import { AccountContext } from './account-context.js';

const PART_PATH = 'account:part-path';

/** The page to return to after a login that a form of the controller's part has asked for. */
export const PartPath = (path: string) => SetMetadata(PART_PATH, path);

/**
 * Admits logged-in users to their account, and forms that come from its pages; everyone else is redirected to the login page. Every
 * POST is checked here, so that no page can forget it.
 */
@Injectable()
export class AccountGuard implements CanActivate {
  constructor(
    private readonly users: SignedInUsers,
    private readonly csrf: CsrfService,
    private readonly cookies: Cookies,
    private readonly reflector: Reflector,
    private readonly settings: Settings,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    const [request, reply] = [http.getRequest<FastifyRequest>(), http.getResponse<FastifyReply>()];
    if (isPosted(request)) refuseOddForm(request);
    const returnTo = isPosted(request)
      ? this.reflector.get<string>(PART_PATH, context.getClass())
      : request.url;
    const user = await this.users.admit(request, reply, returnTo);
    if (!user) return false;
    const { csrf, cookies, settings } = this;
    const page = new AccountContext(user, settings.passwordSignIn, request, reply, csrf, cookies);
    request.pageContext = page;
    if (isPosted(request)) page.checkForm();
    return true;
  }
}
