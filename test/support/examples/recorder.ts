import type { Method, Operation } from '#entrypoints/api-docs/openapi.js';
import type { Named, RecordedExamples, RecordedOperation } from '#entrypoints/api-docs/document.js';
import type { Answer, Http, HttpOptions } from '../http.js';
import { committedDocument } from '../openapi-document.js';
import type { FixedValues } from './fixed-values.js';

/** A request of a documented operation. */
export interface Call extends HttpOptions {
  path?: Record<string, string>;
  query?: Record<string, string | number>;
  /** The instance to ask, if not the usual one. */
  http?: Http;
}

/** How often a request is sent until its caller is over a limit. */
const TRIES = 50;

interface Described {
  method: Method;
  path: string;
  operation: Operation;
}

/** Every documented operation by its id. */
export const OPERATIONS = new Map(
  Object.entries(committedDocument.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): [string, Described] => [
      operation.operationId,
      { method: method as Method, path, operation },
    ]),
  ),
);

/** The described headers of a request, under the names that the document writes. */
const headersOf = (id: string, { headers = {} }: Call): Record<string, string> =>
  Object.fromEntries(
    (OPERATIONS.get(id)!.operation.parameters ?? []).flatMap(({ name, in: place }) => {
      const value = headers[name.toLowerCase()];
      return place === 'header' && value !== undefined ? [[name, value]] : [];
    }),
  );

/** Performs documented operations and keeps each request and answer as an example. */
export class Recorder {
  private readonly recorded = new Map<string, RecordedOperation>();
  /** Each operation and status that was seen. */
  readonly seen = new Set<string>();

  constructor(
    private readonly http: Http,
    private readonly fixed: FixedValues,
  ) {}

  /** Expects a response that succeeds, and keeps it with the request. */
  async call(id: string, status: number, call: Call, name?: string): Promise<Answer> {
    const answer = await this.answer(id, status, call, name);
    const kept = this.of(id);
    const parameters = { ...call.path, ...call.query, ...headersOf(id, call) };
    if (Object.keys(parameters).length > 0) kept.parameters ??= this.fixed.of(parameters) as Named;
    const body = call.json ?? call.form;
    if (body !== undefined) (kept.requests ??= {})[name ?? 'example'] ??= this.fixed.of(body);
    return answer;
  }

  /** Expects this response, and keeps only it: the first of each status and name. */
  async answer(id: string, status: number, call: Call, name?: string): Promise<Answer> {
    const answer = await this.send(id, call);
    if (answer.status !== status)
      throw new Error(`${id} answers ${answer.status} instead of ${status}: ${answer.text.slice(0, 500)}`);
    this.keep(id, answer, name);
    return answer;
  }

  /** Sends the request, each time after `before`, until the response has this status, and keeps that one. */
  async answerOnce(id: string, status: number, call: Call, before?: () => Promise<unknown>): Promise<void> {
    for (let tries = 0; tries < TRIES; tries++) {
      await before?.();
      const answer = await this.send(id, call);
      if (answer.status === status) return this.keep(id, answer);
    }
    throw new Error(`${id} never answers ${status}`);
  }

  /** The examples, in the order of the document. */
  examples(): RecordedExamples {
    const ids = [...OPERATIONS.keys()].filter((id) => this.recorded.has(id));
    const ordered = ids.map((id) => {
      const { parameters, requests, responses } = this.of(id);
      return [id, { parameters, requests, responses }];
    });
    return JSON.parse(JSON.stringify(Object.fromEntries(ordered))) as RecordedExamples;
  }

  private send(id: string, { path = {}, query, http = this.http, ...options }: Call): Promise<Answer> {
    const { method, path: template } = OPERATIONS.get(id)!;
    const filled = template.replace(/\{(\w+)\}/g, (_part, name: string) => path[name]!);
    const pairs = Object.entries(query ?? {}).map(([name, value]) => [name, String(value)]);
    const search = query ? `?${new URLSearchParams(pairs).toString()}` : '';
    return http.send(filled + search, { method: method.toUpperCase(), ...options });
  }

  private keep(id: string, { status, json }: Answer, name = 'example'): void {
    this.seen.add(`${id} ${status}`);
    if (json !== undefined) (this.of(id).responses[status] ??= {})[name] ??= this.fixed.of(json);
  }

  private of(id: string): RecordedOperation {
    let found = this.recorded.get(id);
    if (!found) this.recorded.set(id, (found = { responses: {} }));
    return found;
  }
}
