import { Injectable, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { map, type Observable } from 'rxjs';
import { Settings } from '../../config/settings.js';
import type { Page } from '../../database/queries/read-page.js';

/** A page of a list as sent, with the ids of the items at which the next and previous pages start. */
export interface ListAnswer<V> {
  items: V[];
  after?: string;
  before?: string;
}

/** `idOf` is needed where the list is not in the order of `id`. */
export function listAnswer<T extends { id: string }, V>(page: Page<T>, view: (item: T) => V): ListAnswer<V>;
export function listAnswer<T, V>(
  page: Page<T>,
  view: (item: T) => V,
  idOf: (item: T) => string,
): ListAnswer<V>;
export function listAnswer<T, V>(
  { items, hasNext, hasPrevious }: Page<T>,
  view: (item: T) => V,
  idOf = (item: T): string => (item as { id: string }).id,
): ListAnswer<V> {
  const [first, last] = [items[0], items.at(-1)];
  return {
    items: items.map((item) => view(item)),
    after: hasNext && last !== undefined ? idOf(last) : undefined,
    before: hasPrevious && first !== undefined ? idOf(first) : undefined,
  };
}

/** The `Link` header (RFC 8288) of a list at an address; it omits pages that do not exist. */
export function linkHeader(
  address: string,
  { after, before }: Partial<ListAnswer<unknown>>,
): string | undefined {
  const link = (rel: string, parameter: string, id: string): string => {
    const url = new URL(address);
    url.searchParams.delete('page_after');
    url.searchParams.delete('page_before');
    url.searchParams.set(parameter, id);
    return `<${url.href}>; rel="${rel}"`;
  };
  const links = [
    ...(after === undefined ? [] : [link('next', 'page_after', after)]),
    ...(before === undefined ? [] : [link('previous', 'page_before', before)]),
  ];
  return links.length > 0 ? links.join(', ') : undefined;
}

/** Sends the items of a list with links to its other pages. A list that is text already, such as the feed of events, sets its own. */
@Injectable()
export class ListAnswers<V> implements NestInterceptor<ListAnswer<V> | string, V[] | string> {
  constructor(private readonly settings: Settings) {}

  intercept(context: ExecutionContext, next: CallHandler<ListAnswer<V> | string>): Observable<V[] | string> {
    const http = context.switchToHttp();
    const address = this.settings.baseUrl + http.getRequest<FastifyRequest>().url;
    return next.handle().pipe(
      map((answer) => {
        if (typeof answer === 'string') return answer;
        const links = linkHeader(address, answer);
        if (links) void http.getResponse<FastifyReply>().header('link', links);
        return answer.items;
      }),
    );
  }
}
