import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Answers } from '#platform/database/domain/domain-map.js';
import { RequestRecordEntity } from './request-record.entity.js';
import { RequestRecordsRepository } from './request-records.repository.js';
import { RequestRecordsService } from './request-records.service.js';
import type { PurgeTask } from '#platform/database/purge/purge-tasks.js';

/** Days that records are kept, at least: a day goes as a whole. */
const DAYS_KEPT = 7;
// One is enough; with two, a day without any instance is no matter.
const DAYS_AHEAD = 2;

/** Records of requests, so that operators can find out why one was refused. */
@Module({
  imports: [TypeOrmModule.forFeature([RequestRecordEntity])],
  providers: [RequestRecordsRepository, RequestRecordsService],
  exports: [RequestRecordsService],
})
export class RequestsModule {
  @Answers('purge.tasks')
  purged(): PurgeTask[] {
    return [
      {
        table: 'request_records',
        by: 'occurred_at',
        partitions: `turn_request_records(${DAYS_KEPT}, ${DAYS_AHEAD})`,
      },
    ];
  }
}
