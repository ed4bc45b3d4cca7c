import { Injectable, SetMetadata, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Cookies } from '../server/cookies.js';
import { type Form, formOf, isPosted } from '../forms/form.js';
import { ONE_CLICK } from '../forms/one-click.js';
import { CsrfService, notFromHere } from '../forms/csrf.service.js';
import { driverErrorPage } from '../problems/error-page.js';
import type { LayoutProps } from '#platform/web/layout/layout.js';
import { say } from '#platform/language/text.js';
import type { PageAnswer } from './page-answer.js';
import { PageContext } from './page-context.js';
import { pageRoutes } from './page-routes.js';

/** What a route of a page without a session returns. */
export type OpenAnswer = PageAnswer<LayoutProps>;

const SHOWS_AGAIN = 'open:shows-again';

/**
 * A form that is shown again (422) if its page is out of date, with what was typed and where it leads. The route asks for
 * `formOutOfDate` first.
 */
export const ShowsAgain = () => SetMetadata(SHOWS_AGAIN, true);

/** Said above a form that is shown again, as a message. */
export const OUT_OF_DATE = say('This page was out of date. Please try again.');

/** A request to a page that needs no session. Its forms are bound to their path, and so to a one-time key in it. */
export class OpenContext extends PageContext<LayoutProps> {
  private isOutOfDate = false;

  constructor(request: FastifyRequest, reply: FastifyReply, csrf: CsrfService, cookies: Cookies) {
    super({ name: 'open', notices: {}, home: '/login' }, request, reply, csrf, cookies);
  }

  layOut(page: LayoutProps): LayoutProps {
    return page;
  }

  /** A form that must only be shown again, on routes with `ShowsAgain`. */
  get formOutOfDate(): Form | undefined {
    return this.isOutOfDate ? super.form : undefined;
  }

  /** The posted form. Throws a 403 problem for one that is out of date, so that no route follows it by mistake. */
  override get form(): Form {
    if (this.isOutOfDate) throw notFromHere();
    return super.form;
  }

  /** Checks the posted form, or notes that it is out of date; throws a 403 problem for a form of another site. */
  judgeForm(): void {
    this.isOutOfDate = this.isFormOutOfDate();
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
    private readonly reflector: Reflector,
  ) {}

  canActivate(context: ExecutionContext): boolean {
    const http = context.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const page = new OpenContext(request, http.getResponse<FastifyReply>(), this.csrf, this.cookies);
    request.pageContext = page;
    if (!isPosted(request)) return true;
    const form = formOf(request);
    if (this.isFromElsewhere(form)) return true;
    if (this.reflector.get<boolean | undefined>(SHOWS_AGAIN, context.getHandler())) page.judgeForm();
    else page.checkForm();
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
