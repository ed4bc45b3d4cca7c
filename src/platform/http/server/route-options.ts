import type { FastifyRequest, FastifyInstance } from 'fastify';
import type { Problem } from '../problems/problem.js';
import FindMyWay, { type HTTPMethod } from 'find-my-way';

/** An error response as sent over the wire. */
export interface Rendered {
  /** Set if it differs from the problem's status. */
  status?: number;
  headers: Record<string, string>;
  body: string;
}

/** Renders errors in a route's own format; undefined leaves it to problem+json. */
type ErrorRenderer = (problem: Problem, request: FastifyRequest) => Rendered | undefined;

declare module 'fastify' {
  interface FastifyContextConfig {
    renderError?: ErrorRenderer;
    /** People look at the route in a browser. */
    isPage?: boolean;
    /** The route's responses carry `Service-Version: 2`. */
    versioned?: boolean;
    /** Without a trailing slash, every request to this URL gets a 405. */
    needsTrailingSlash?: boolean;
    /** The route tells load balancers whether this instance is ready. */
    tellsReadiness?: boolean;
    /** The route also works on a schema that requires a newer build. */
    servesAnySchema?: boolean;
    /** The route is for monitoring this instance: it works with every `ROLE`, and its successes are not logged. */
    isInternal?: boolean;
    /** The route also gets the text of a JSON body, as `request.bodyText`. */
    keepsBodyText?: boolean;
    /** Reads a form instead of JSON. */
    takesForm?: boolean;
    /** Accepts one-click posts of mail programs (RFC 8058), also as multipart/form-data. */
    takesOneClick?: boolean;
    /** A form that is posted twice does once what it asks for (forms/form-answers.service.ts). */
    answersAgain?: boolean;
    /** Accepts a file, as multipart/form-data. */
    takesUpload?: boolean;
  }
}

/** Whether somebody looks at the answer in a browser: a page, or an address that there is not. */
export const isForPerson = ({ routeOptions: { url, config } }: FastifyRequest): boolean =>
  url === undefined || config?.isPage === true;

const METHODS: HTTPMethod[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** The methods of each URL, for 405 responses and their `Allow` header. The framework itself only reports found or not found. */
export class AllowedMethods {
  private readonly router = FindMyWay({ ignoreTrailingSlash: true });

  /** Collects routes as they are registered; must be created before the first one. */
  constructor(fastify: FastifyInstance) {
    fastify.addHook('onRoute', ({ method, url }) => {
      for (const each of [method].flat() as HTTPMethod[]) {
        if (METHODS.includes(each) && !url.endsWith('*') && !this.router.hasRoute(each, url)) {
          this.router.on(each, url, () => undefined);
        }
      }
    });
  }

  /** The methods of the URL; empty if it does not exist. */
  of(url: string): string[] {
    const path = url.split('?', 1)[0]!;
    return METHODS.filter((method) => this.router.find(method, path) !== null);
  }
}
