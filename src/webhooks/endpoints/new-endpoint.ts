import type { HeaderChanges } from './endpoint-headers.js';

/** What a new endpoint is asked to be. */
export interface NewEndpoint {
  url: string;
  description?: string;
  eventTypes: string[];
  enabled?: boolean;
  maxPerMinute?: number | null;
  /** All of its own headers; null keeps the value that one has. */
  headers?: HeaderChanges;
}

/** What is to change of an endpoint. */
export type EndpointChanges = Partial<NewEndpoint>;
