import FindMyWay, { type HTTPMethod } from 'find-my-way';
import type { FastifyInstance } from 'fastify';

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
