import { Controller, Get, Param, Query, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { isReadableAccent } from '#platform/config/brand-values.js';
import { notFound } from '#platform/http/problems/problem.js';
import { brandStyle, versionOf } from '#platform/web/layout/brand-style.js';
import { LogosService } from './brand.service.js';

const FOR_GOOD = 'public, max-age=31536000, immutable';
// Requested from another version than this instance's: the browser asks again soon.
const A_MINUTE = 'public, max-age=60';

/** What pages load of the brand: the style sheet of its colour, and logos. Both are named by their content. */
@Controller()
@ApiExcludeController()
export class BrandController {
  constructor(private readonly logos: LogosService) {}

  /** The style sheet of a colour; 404 for one that text cannot be read in. */
  @Get('brand.css')
  style(
    @Query('accent') accent: unknown,
    @Query('v') version: unknown,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): string {
    const color = typeof accent === 'string' ? `#${accent}` : '';
    if (!isReadableAccent(color)) throw notFound('There is no such style sheet.');
    const style = brandStyle(color);
    void reply.headers({
      'content-type': 'text/css; charset=utf-8',
      'cache-control': version === versionOf(style) ? FOR_GOOD : A_MINUTE,
    });
    return style;
  }

  /** A logo, as an image and nothing else. */
  @Get('logos/:digest')
  async logo(
    @Param('digest') digest: string,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Buffer> {
    const image = await this.logos.find(digest);
    if (!image) throw notFound('There is no such logo.');
    void reply.headers({
      'content-type': 'image/png',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; sandbox",
      'cache-control': FOR_GOOD,
    });
    return image;
  }
}
