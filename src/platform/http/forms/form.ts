import { said, say } from '#platform/language/text.js';
import { badRequest } from '../problems/problem.js';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';

/** The posted form of a route with `takesForm`; a missing body is an empty one. */
export const formOf = ({ body }: FastifyRequest): Form => (body instanceof Form ? body : Form.parse(''));

/** Whether the request is anything but a read, so that no method is forgotten. */
export const isPosted = ({ method }: FastifyRequest): boolean => method !== 'GET' && method !== 'HEAD';

/** The posted form of a page route. */
export const FormBody = createParamDecorator((_data: unknown, context: ExecutionContext): Form =>
  formOf(context.switchToHttp().getRequest<FastifyRequest>()),
);

// More than any form or request of this service needs: a hundred deliveries can be chosen at once.
const MAX_PARAMETERS = 128;

/** Text that PostgreSQL cannot store or that is not valid Unicode: NUL, or an unpaired surrogate. */
export const isUnsafeText = (text: string): boolean => text.includes('\0') || !text.isWellFormed();

/**
 * Parameters of an application/x-www-form-urlencoded body or a query string. A parameter may occur more than once; callers decide
 * what that means.
 */
export class Form {
  private constructor(
    private readonly values: ReadonlyMap<string, readonly string[]>,
    /** The text as sent. */
    readonly source: string,
  ) {}

  /** Throws a 400 problem for broken percent-encoding, text that is not UTF-8, NUL, or more than 128 parameters. */
  static parse(source: string): Form {
    const values = new Map<string, string[]>();
    const parts = source.split('&').filter((part) => part !== '');
    if (parts.length > MAX_PARAMETERS) {
      throw badRequest(`There are more than ${MAX_PARAMETERS} parameters.`, {
        said: said(say('There are more than {count} parameters.'), { count: MAX_PARAMETERS }),
      });
    }
    for (const part of parts) {
      const at = part.indexOf('=');
      const name = decode(at < 0 ? part : part.slice(0, at));
      const value = at < 0 ? '' : decode(part.slice(at + 1));
      values.set(name, [...(values.get(name) ?? []), value]);
    }
    return new Form(values, source);
  }

  /** The value; undefined if it was not sent, or is empty (RFC 6749 §3.1: treated as omitted). */
  get(name: string): string | undefined {
    return this.values.get(name)?.[0] || undefined;
  }

  /** All values sent under the name, such as checkboxes of one group; empty ones are omitted. */
  getAll(name: string): string[] {
    return (this.values.get(name) ?? []).filter((value) => value !== '');
  }

  /** Whether the parameter was sent more than once. */
  isRepeated(name: string): boolean {
    return (this.values.get(name)?.length ?? 0) > 1;
  }

  /** The names that were sent more than once. */
  get repeated(): string[] {
    return [...this.values.keys()].filter((name) => this.isRepeated(name));
  }

  get isEmpty(): boolean {
    return this.values.size === 0;
  }
}

/** Decodes one part; refuses what a lenient decoder would silently replace. */
function decode(part: string): string {
  let text: string;
  try {
    text = decodeURIComponent(part.replaceAll('+', ' '));
  } catch {
    throw badRequest(say('The parameters are not valid percent-encoded UTF-8.'));
  }
  if (isUnsafeText(text)) throw badRequest(say('A parameter contains a NUL character.'));
  return text;
}

/** The query string of a request's URL, without the question mark. */
export const queryStringOf = (url: string): string => {
  const at = url.indexOf('?');
  return at < 0 ? '' : url.slice(at + 1);
};
