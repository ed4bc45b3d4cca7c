import { AsyncLocalStorage } from 'node:async_hooks';

/** The fields of every line logged during something: a request, or the delivery of a webhook. */
export interface LogFields {
  request_id?: string;
  delivery_id?: string;
  trace_id?: string;
}

const scope = new AsyncLocalStorage<LogFields>();

// Free from Node 24 on; before that every promise costs more, 7 % of a request (docs/decisions/0007).
let isKept = Number.parseInt(process.versions.node) >= 24;

/** Keeps the scope on older Node versions too, for callers that pay that cost anyway. */
export function keepLogScope(): void {
  isKept = true;
}

/** Runs work so that lines logged by it, and by everything it starts, carry these fields; if the scope is kept. */
export const inLogScope = <T>(fields: LogFields, work: () => T): T =>
  isKept ? scope.run(fields, work) : work();

/** The fields of the current scope; undefined outside of any. */
export const logFields = (): LogFields | undefined => scope.getStore();

/** Runs work that belongs to no particular request, even if a request triggers it: outside of any log scope and trace. */
export const detached: <T>(work: () => T) => T = AsyncLocalStorage.snapshot();
