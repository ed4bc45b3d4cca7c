import type { FastifyInstance } from 'fastify';
import type { Brand } from '../../web/layout/brand.js';

declare module 'fastify' {
  interface FastifyInstance {
    /** The brand that pages have at this moment. */
    readonly brand: Brand;
  }
}

/** Lets every page find the brand by its request or reply. */
export function addBrand(fastify: FastifyInstance, { current }: { current: () => Brand }): void {
  fastify.decorate('brand', { getter: current });
}
