import { AsyncLocalStorage } from 'node:async_hooks';

/** What each line carries that is written in the course of something: a request, or the delivery of a webhook. */
export interface LogFields {
  request_id?: string;
  delivery_id?: string;
  trace_id?: string;
}

const scope = new AsyncLocalStorage<LogFields>();

/** Runs the work, and all that it sets off, so that the service's own lines carry these fields. */
export const inLogScope = <T>(fields: LogFields, work: () => T): T => scope.run(fields, work);

/** The fields of the present course; undefined outside of any. */
export const logFields = (): LogFields | undefined => scope.getStore();

/** Runs work that serves nobody in particular although a request may set it off: in no log scope and in no trace. */
export const apart: <T>(work: () => T) => T = AsyncLocalStorage.snapshot();
