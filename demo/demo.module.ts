import { Module } from '@nestjs/common';
import { MailModule } from '../src/mail/mail.module.js';
import { DemoInbox } from './demo-inbox.js';
import { DemoMailController } from './demo-mail.controller.js';
import { DemoController } from './demo.controller.js';

/** Routes that only the demonstration has, and the inbox in place of an SMTP server. */
@Module({
  imports: [MailModule],
  controllers: [DemoController, DemoMailController],
  providers: [DemoInbox],
})
export class DemoModule {}
