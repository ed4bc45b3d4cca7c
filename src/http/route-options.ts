import type { FastifyRequest } from 'fastify';
import type { Problem } from './problem.js';

/** A refusal as it goes over the wire. */
export interface Rendered {
  /** Where it is another than the problem's. */
  status?: number;
  headers: Record<string, string>;
  body: string;
}

/** How a route shows a refusal in its own way; undefined leaves it to problem+json. */
export type ErrorRenderer = (problem: Problem, request: FastifyRequest) => Rendered | undefined;

declare module 'fastify' {
  interface FastifyContextConfig {
    renderError?: ErrorRenderer;
    /** The route's answers carry `Service-Version: 2`. */
    versioned?: boolean;
    /** Without the slash at its end the address answers 405, whatever the request is. */
    needsTrailingSlash?: boolean;
    /** The route tells load balancers whether this instance is ready. */
    tellsReadiness?: boolean;
  }
}
