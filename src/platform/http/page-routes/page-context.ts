import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Cookies, OUR_COOKIES } from '../server/cookies.js';
import type { CsrfService } from '../forms/csrf.service.js';
import { Form, queryStringOf, formOf, isPosted } from '../forms/form.js';
import type { LayoutProps, Reader } from '#platform/web/layout/layout.js';
import {
  rememberTimeChoice,
  timeChoiceOf,
  timeZoneOfRequest,
  type TimeChoice,
} from '../server/request-time-zone.js';
import { languageOf, rememberLanguage } from '../server/request-language.js';

/** A cookie set by our script: the first parts of the groups that the reader folded up, such as `clients.notifications`. */
const NOTED = `${OUR_COOKIES}folded`;
const MAX_LENGTH = 200;

/** The groups of the side bar that are folded up in this browser. */
const foldedGroupsOf = ({ cookies }: FastifyRequest): string[] =>
  cookies?.[NOTED]?.slice(0, MAX_LENGTH).split('.') ?? [];

declare module 'fastify' {
  interface FastifyRequest {
    pageContext?: PageContext;
  }
}

const LOGOUT_PATH = '/logout';
/** The logout form is on pages of every area, so it is bound to none. */
export const LOGOUT_BINDING = 'logout';

// Long enough for the redirect that follows a form.
const NOTICE_SECONDS = 60;

/** An area of pages: one kind of session, one layout, one set of notices. */
export interface PageArea {
  /** Part of its cookie's name and of what its CSRF tokens are bound to. */
  name: string;
  /** Messages shown after a form was posted. The cookie holds only the key, so nobody can put other text on the page. */
  notices: Record<string, string>;
  /** Its first page, which redirects visitors to the login. */
  home: string;
}

/** The request of a page route, after its guard. */
export abstract class PageContext<Page = unknown> {
  constructor(
    protected readonly area: PageArea,
    protected readonly request: FastifyRequest,
    protected readonly reply: FastifyReply,
    protected readonly csrf: CsrfService,
    private readonly cookies: Cookies,
  ) {
    rememberLanguage(request, reply, cookies);
  }

  /** Loads what the layout shows in addition to the page. */
  prepare?(): Promise<void>;

  /** Puts a page into the layout of its area. */
  abstract layOut(page: Page): LayoutProps;

  /** What a form that is posted to this path is bound to. */
  protected abstract bindingIn(path: string): string;

  /** The CSRF token of a form that is posted to this path. */
  readonly tokenFor = (action: string): string => {
    const path = action.split(/[?#]/, 1)[0]!;
    return this.csrf.tokenFor(this.request, this.reply, this.bindingOf(path));
  };

  /** Sets Retry-After, for programs; the page says the same to people. */
  retryAfter(seconds: number): void {
    void this.reply.header('retry-after', String(seconds));
  }

  /** The reader of the page. Without a URL for the answer to a form, because it cannot be loaded again in another language. */
  get reader(): Reader {
    const { request, url } = this;
    return {
      language: languageOf(request),
      timeZone: timeZoneOfRequest(request),
      choseUtc: this.timeChoice === 'utc',
      folded: foldedGroupsOf(request),
      url: isPosted(request) ? undefined : url,
    };
  }

  /** Whether this browser shows times in UTC or local time. */
  get timeChoice(): TimeChoice {
    return timeChoiceOf(this.request);
  }

  rememberTimeChoice(choice: TimeChoice): void {
    rememberTimeChoice(this.reply, this.cookies, choice);
  }

  /** The first page of the area. */
  get home(): string {
    return this.area.home;
  }

  /** The path and query of the request. */
  get url(): string {
    return this.request.url;
  }

  /** The path of the request, without a trailing slash. */
  get path(): string {
    return this.url.split('?', 1)[0]!.replace(/\/$/, '');
  }

  get query(): Form {
    return Form.parse(queryStringOf(this.url));
  }

  /** The posted form. */
  get form(): Form {
    return formOf(this.request);
  }

  /** The file in a field of the posted form; undefined if none was chosen. */
  file(name: string): Buffer | undefined {
    return this.request.files.get(name);
  }

  /** Throws a 403 problem unless the posted form came from a page of this session, for this path; 415 for what is not a form. */
  checkForm(): void {
    this.csrf.check(this.request, formOf(this.request), this.bindingOf(this.path));
  }

  /** The same without a problem: whether the form is to be shown again instead (`CsrfService.isOutOfDate`). */
  protected isFormOutOfDate(): boolean {
    return this.csrf.isOutOfDate(this.request, formOf(this.request), this.bindingOf(this.path));
  }

  /** Keeps a value for the page at this path, which shows it once. */
  keepShown?(path: string, value: object): void;

  /** Leaves a message for the next page. */
  leaveNotice(notice: string): void {
    this.cookies.set(this.reply, this.noticeCookie, notice, NOTICE_SECONDS);
  }

  /** The message that a form left for this page; it is shown once. */
  protected takeNotice(): string | undefined {
    const { notices } = this.area;
    const key = this.cookies.get(this.request, this.noticeCookie);
    if (key === undefined) return undefined;
    this.cookies.clear(this.reply, this.noticeCookie);
    return Object.hasOwn(notices, key) ? notices[key] : undefined;
  }

  private get noticeCookie(): string {
    return `${this.area.name}_notice`;
  }

  private bindingOf(path: string): string {
    return path === LOGOUT_PATH ? LOGOUT_BINDING : this.bindingIn(path);
  }
}

/** The context of the request, on page routes. */
export const Context = createParamDecorator(
  (_data: unknown, context: ExecutionContext): PageContext =>
    context.switchToHttp().getRequest<FastifyRequest>().pageContext!,
);
