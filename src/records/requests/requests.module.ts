import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Answers } from '#platform/database/domain/domain-map.js';
import { RequestRecordEntity } from './request-record.entity.js';
import { RequestRecordsRepository } from './request-records.repository.js';
import { RequestRecordsService } from './request-records.service.js';
import { REQUESTS_PURGE } from './requests-purge.js';

/** Records of requests, so that operators can find out why one was refused. */
@Module({
  imports: [TypeOrmModule.forFeature([RequestRecordEntity])],
  providers: [RequestRecordsRepository, RequestRecordsService],
  exports: [RequestRecordsService],
})
export class RequestsModule {
  @Answers('purge.tasks')
  purged() {
    return REQUESTS_PURGE;
  }
}
