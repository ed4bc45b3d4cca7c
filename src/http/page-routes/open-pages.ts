import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Cookies } from '../server/cookies.js';
import type { Form } from '../forms/form.js';
import { ONE_CLICK } from '../forms/one-click.js';
import { CsrfService } from '../forms/csrf.service.js';
import { driverErrorPage } from '../problems/error-page.js';
import type { LayoutProps } from '../../web/layout/layout.js';
import type { PageAnswer } from './page-answer.js';
import { PageContext } from './page-context.js';
import { pageRoutes } from './page-routes.js';
import { formOf, isPosted } from './posted-form.js';

/** What a route of a page without a session returns. */
export type OpenAnswer = PageAnswer<LayoutProps>;

/** A request to a page that needs no session. Its forms are bound to their path, and so to a one-time key in it. */
export class OpenContext extends PageContext<LayoutProps> {
  constructor(request: FastifyRequest, reply: FastifyReply, csrf: CsrfService, cookies: Cookies) {
    super({ name: 'open', notices: {}, home: '/login' }, request, reply, csrf, cookies);
  }

  layOut(page: LayoutProps): LayoutProps {
    return page;
  }

  protected bindingIn(path: string): string {
    return path.slice(1).replaceAll('/', ' ');
  }
}

/** Checks every form of the pages that need no session. */
@Injectable()
class OpenPagesGuard implements CanActivate {
  constructor(
    private readonly csrf: CsrfService,
    private readonly cookies: Cookies,
  ) {}

  canActivate(context: ExecutionContext): boolean {
    const http = context.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const page = new OpenContext(request, http.getResponse<FastifyReply>(), this.csrf, this.cookies);
    request.pageContext = page;
    if (!isPosted(request)) return true;
    const form = formOf(request);
    if (!this.isFromElsewhere(form)) page.checkForm();
    return true;
  }

  /** Whether the form was posted by a program that has not loaded the page. */
  protected isFromElsewhere(_form: Form): boolean {
    return false;
  }
}

/** The same for the page of a link in a mail, to which mail programs post by themselves (RFC 8058) with nothing but the link. */
@Injectable()
class OneClickPagesGuard extends OpenPagesGuard {
  protected override isFromElsewhere(form: Form): boolean {
    return form.get(ONE_CLICK.name) === ONE_CLICK.value;
  }
}

/** The decorators for pages that need no session; their routes return an `OpenAnswer`. */
export const {
  Pages: OpenPages,
  PageGet: OpenGet,
  PagePost: OpenPost,
} = pageRoutes({ root: '', guard: OpenPagesGuard, renderError: driverErrorPage });

/** The decorators for pages of links that mail programs may follow by one click. */
export const {
  Pages: OneClickPages,
  PageGet: OneClickGet,
  PagePost: OneClickPost,
} = pageRoutes({ root: '', guard: OneClickPagesGuard, renderError: driverErrorPage, takesOneClick: true });
