import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Cookies } from '../cookies.js';
import type { CsrfService } from '../csrf.service.js';
import { formOf } from './posted-form.js';

declare module 'fastify' {
  interface FastifyRequest {
    pageContext?: PageContext;
  }
}

/** An area of pages: one kind of session, one layout, one set of notices. */
export interface PageArea {
  /** Part of its cookie's name and of what its CSRF tokens are bound to. */
  name: string;
  /** Messages shown after a form was posted. The cookie holds only the key, so nobody can put other text on the page. */
  notices: Record<string, string>;
  /** Whether a script of this service enhances all its pages. */
  withScript?: boolean;
}

/** What a page route knows of its request, after the guard of its area. */
export abstract class PageContext {
  /** Forms are bound to it. */
  protected abstract get sessionDigest(): Buffer;

  /** The CSRF token of a form that is posted to this path; pages with many forms get it as a function. */
  readonly tokenFor = (path: string): string =>
    this.csrf.tokenFor(this.request, this.reply, this.bindingOf(path));

  constructor(
    readonly area: PageArea,
    protected readonly request: FastifyRequest,
    protected readonly reply: FastifyReply,
    protected readonly csrf: CsrfService,
    private readonly cookies: Cookies,
  ) {}

  /** The path and query of the request. */
  get url(): string {
    return this.request.url;
  }

  /** The path of the request, without a trailing slash. */
  get path(): string {
    return this.url.split('?', 1)[0]!.replace(/\/$/, '');
  }

  /** Throws a 403 problem unless the posted form came from a page of this session, for this path; 415 for what is not a form. */
  checkForm(): void {
    this.csrf.check(this.request, formOf(this.request), this.bindingOf(this.path));
  }

  /** Passes something on to the page at this path, which shows it once. */
  keepShown?(path: string, value: object): void;

  /** The message that a form left for this page; it is shown once. */
  protected takeNotice(): string | undefined {
    const { notices } = this.area;
    const cookie = noticeCookieOf(this.area);
    const key = this.cookies.get(this.request, cookie);
    if (key === undefined) return undefined;
    this.cookies.clear(this.reply, cookie);
    return Object.hasOwn(notices, key) ? notices[key] : undefined;
  }

  /** The path identifies the action and its object. */
  private bindingOf(path: string): string {
    return `${this.area.name} ${path} ${this.sessionDigest.toString('base64url')}`;
  }
}

export const noticeCookieOf = ({ name }: PageArea): string => `${name}_notice`;

/** The context of the request, on the routes of an area of pages. */
export const Context = createParamDecorator(
  (_data: unknown, context: ExecutionContext): PageContext =>
    context.switchToHttp().getRequest<FastifyRequest>().pageContext!,
);
