import { Module, type OnModuleInit, type Type } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance } from 'fastify';
import { MailModule } from '#records/mail/mail.module.js';
import type { DemoCredentials } from './demo-credentials.js';
import { DEMO_CREDENTIALS, DemoGuideController } from './demo-guide.controller.js';
import { DemoSandboxController } from './demo-sandbox.controller.js';
import { DemoInbox } from './demo-inbox.js';
import { DemoMailController } from './demo-mail.controller.js';
import { DemoController } from './demo.controller.js';

/**
 * Routes that only the demonstration has, and the inbox in place of an SMTP server; `mount` adds the routes that are no controllers.
 */
export function demoModule(credentials: DemoCredentials, mount: (fastify: FastifyInstance) => void): Type {
  @Module({
    imports: [MailModule],
    controllers: [DemoController, DemoGuideController, DemoMailController, DemoSandboxController],
    providers: [DemoInbox, { provide: DEMO_CREDENTIALS, useValue: credentials }],
  })
  class DemoModule implements OnModuleInit {
    constructor(private readonly server: HttpAdapterHost) {}

    onModuleInit(): void {
      mount(this.server.httpAdapter.getInstance<FastifyInstance>());
    }
  }
  return DemoModule;
}
