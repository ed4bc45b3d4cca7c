import { Req, UseGuards } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { Readable } from 'node:stream';
import type { PortalAnswer, PortalContext } from '#entrypoints/webhook-portal/frame/portal-context.js';
import { PortalGet, PortalPages } from '#entrypoints/webhook-portal/frame/portal-pages.decorator.js';
import { PortalSandboxGuard } from '#entrypoints/webhook-portal/sandbox/portal-sandbox.guard.js';
import { Context } from '#platform/http/page-routes/page-context.js';
import { SandboxStreams } from './sandbox-streams.service.js';

/** What the page of a sandbox follows while it is open (contract §19). */
@UseGuards(PortalSandboxGuard)
@PortalPages('sandbox')
export class PortalLiveSandboxController {
  constructor(private readonly streams: SandboxStreams) {}

  /** Server-Sent Events: `change` tells the page to reload its contents. */
  @PortalGet('events', 'viewer')
  follow(@Context() { visitor }: PortalContext, @Req() { method }: FastifyRequest): PortalAnswer {
    return { stream: method === 'HEAD' ? Readable.from([]) : this.streams.open(visitor) };
  }
}
