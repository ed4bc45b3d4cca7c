import { Controller, Get, Inject, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { Settings } from '#platform/config/settings.js';
import { serviceUnavailable } from '#platform/http/problems/problem.js';
import { PageRoute } from '#platform/http/page-routes/send-page.js';
import { DEMO_CREDENTIALS } from './demo-guide.controller.js';
import type { DemoCredentials } from './demo-credentials.js';
import { ownUrl } from './demo-receiver.routes.js';

/** Redirects a visitor of the demonstration to its sandbox page, without a login. */
@Controller('demo/sandbox')
export class DemoSandboxController {
  constructor(
    private readonly settings: Settings,
    @Inject(DEMO_CREDENTIALS) private readonly credentials: DemoCredentials,
  ) {}

  /** Asks for a one-time link to the portal as the partner's program would, and leads there. */
  @Get()
  @PageRoute()
  async lead(@Res() reply: FastifyReply): Promise<void> {
    const { id, secret } = this.credentials.sandboxClient;
    const { access_token: token } = await this.ask<{ access_token: string }>('/o/token', {
      method: 'POST',
      headers: { authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}` },
      body: new URLSearchParams({ grant_type: 'client_credentials' }),
    });
    const { url } = await this.ask<{ url: string }>('/webhook_portal', {
      headers: { authorization: `Bearer ${token}` },
    });
    const { pathname } = new URL(url);
    void reply.header('cache-control', 'no-store').redirect(`${pathname}?page=sandbox`, 303);
  }

  private async ask<T>(path: string, request: RequestInit): Promise<T> {
    const answer = await fetch(ownUrl(this.settings, path), request);
    if (answer.ok) return (await answer.json()) as T;
    throw serviceUnavailable(
      'The client of the sandbox gets no link: it was changed, deleted, or asked too often.',
    );
  }
}
