import FindMyWay, { type HTTPMethod } from 'find-my-way';
import type { FastifyInstance } from 'fastify';

const METHODS: HTTPMethod[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** Which methods an address has, for 405 and its `Allow` header: the framework itself knows only "found" or not. */
export class AllowedMethods {
  private readonly router = FindMyWay({ ignoreTrailingSlash: true });

  /** Collects the routes as they are registered; call it before any is. */
  constructor(fastify: FastifyInstance) {
    fastify.addHook('onRoute', ({ method, url }) => {
      for (const each of [method].flat() as HTTPMethod[]) {
        if (METHODS.includes(each) && !url.endsWith('*') && !this.router.hasRoute(each, url)) {
          this.router.on(each, url, () => undefined);
        }
      }
    });
  }

  /** The methods of the address, none where it does not exist. */
  of(url: string): string[] {
    const path = url.split('?', 1)[0]!;
    return METHODS.filter((method) => this.router.find(method, path) !== null);
  }
}
