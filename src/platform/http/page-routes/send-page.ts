import { applyDecorators } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import type { FastifyReply, FastifyInstance } from 'fastify';
import { driverErrorPage } from '../problems/error-page.js';
import { pageHeaders, type PageOptions } from './page-headers.js';
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

/** Sends a page. */
export function sendPage(reply: FastifyReply, html: string, options: PageOptions = {}): void {
  void reply
    .status(options.status ?? 200)
    .headers(pageHeaders(options))
    .send(html);
}

/** Marks a route whose errors are rendered as pages, and whose body is a form. */
export const PageRoute = () =>
  applyDecorators(RouteConfig({ renderError: driverErrorPage, isPage: true, takesForm: true }));
