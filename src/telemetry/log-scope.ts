import { AsyncLocalStorage } from 'node:async_hooks';

/** What each line carries that is written in the course of something: a request, or the delivery of a webhook. */
export interface LogFields {
  request_id?: string;
  delivery_id?: string;
  trace_id?: string;
}

const scope = new AsyncLocalStorage<LogFields>();

// From Node 24 on it costs nothing; before that every promise pays for it, 7 % of what a request takes (docs/decisions/0007).
let isKept = Number.parseInt(process.versions.node) >= 24;

/** Keeps the scope on an older Node too: for whoever pays for it anyway. */
export function keepLogScope(): void {
  isKept = true;
}

/** Runs the work, and all that it sets off, so that the service's own lines carry these fields; as far as the scope is kept. */
export const inLogScope = <T>(fields: LogFields, work: () => T): T =>
  isKept ? scope.run(fields, work) : work();

/** The fields of the present course; undefined outside of any. */
export const logFields = (): LogFields | undefined => scope.getStore();

/** Runs work that serves nobody in particular although a request may set it off: in no log scope and in no trace. */
export const apart: <T>(work: () => T) => T = AsyncLocalStorage.snapshot();
