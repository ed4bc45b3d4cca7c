import { applyDecorators } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import type { FastifyReply } from 'fastify';
import { driverErrorPage } from '../problems/error-page.js';
import { pageHeaders, type PageOptions } from './page-headers.js';

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
