import type { HeaderChanges } from './endpoint-headers.js';

/** What an endpoint is made of. */
export interface NewEndpoint {
  url: string;
  description?: string;
  eventTypes: string[];
  enabled?: boolean;
  maxPerMinute?: number | null;
  /** All of its own headers; null keeps the value that one has. */
  headers?: HeaderChanges;
}

/** Members that are left out stay as they are. */
export type EndpointChanges = Partial<NewEndpoint>;
