import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { BrandModule } from '#records/brand/brand.module.js';
import { Answers } from '#platform/database/domain/domain-map.js';
import { MailWorker } from './mail-worker.service.js';
import { MailEntity } from './mail.entity.js';
import { MailsRepository } from './mails.repository.js';
import { MailsService } from './mails.service.js';
import { UnsubscribeKeys } from './unsubscribe-keys.service.js';
import { RETENTION, type PurgeTask } from '#platform/database/purge/purge-tasks.js';

/** The outbox, and the worker that sends it (contract §18). */
@Module({
  imports: [BrandModule, TypeOrmModule.forFeature([MailEntity])],
  providers: [MailsRepository, MailsService, MailWorker, UnsubscribeKeys],
  exports: [MailsService, MailWorker, UnsubscribeKeys],
})
export class MailModule {
  @Answers('purge.tasks')
  purged(): PurgeTask[] {
    return [{ table: 'mails', by: 'finished_at', before: RETENTION }];
  }
}
