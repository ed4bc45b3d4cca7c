import { AsyncLocalStorage } from 'node:async_hooks';

/** The fields of every line logged during something: a request, or the delivery of a webhook. */
export interface LogFields {
  request_id?: string;
  delivery_id?: string;
  trace_id?: string;
}

/** Who waits for what is under way: a person for a page, or a program with a token. Nobody waits for the service's own work. */
type Asking = 'person' | 'program';

interface Scope {
  fields: LogFields;
  asking: Asking | undefined;
}

const scope = new AsyncLocalStorage<Scope>();

// Free from Node 24 on; before that every promise costs more, 7 % of a request (docs/decisions/0007).
let isKept = Number.parseInt(process.versions.node) >= 24;

/** Keeps the scope on older Node versions too, for callers that pay that cost anyway. */
export function keepLogScope(): void {
  isKept = true;
}

/** Runs work so that lines logged by it, and by everything it starts, carry these fields; if the scope is kept. */
export const inLogScope = <T>(fields: LogFields, work: () => T, asking?: Asking): T =>
  isKept ? scope.run({ fields, asking }, work) : work();

/** The fields of the current scope; undefined outside of any. */
export const logFields = (): LogFields | undefined => scope.getStore()?.fields;

/** Who waits for it; undefined also where the scope is not kept. */
export const whoAsks = (): Asking | undefined => scope.getStore()?.asking;

/** Runs work that belongs to no particular request, even if a request triggers it: outside of any log scope and trace. */
export const detached: <T>(work: () => T) => T = AsyncLocalStorage.snapshot();
