import type { FastifyInstance } from 'fastify';
import type { Brand } from '#platform/web/layout/brand.js';

declare module 'fastify' {
  interface FastifyInstance {
    /** The current brand of the pages. */
    readonly brand: Brand;
  }
}

/** Makes the brand available to every page through its request or reply. */
export function addBrand(fastify: FastifyInstance, { current }: { current: () => Brand }): void {
  fastify.decorate('brand', { getter: current });
}
