import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ActivityModule } from '#records/activity/activity.module.js';
import { Answers } from '#platform/database/domain/domain-map.js';
import type { PurgePreparation, PurgeTask } from '#platform/database/purge/purge-tasks.js';
import { UsersModule } from '#access/users/users.module.js';
import { TokensModule } from '#access/tokens/tokens.module.js';
import { DeliverySumsRepository, DisclosureRollUpEntity } from './delivery-sums.repository.js';
import { DisclosedReadsService } from './disclosed-reads.service.js';
import { DisclosureHistoryRepository } from './disclosure-history.repository.js';
import { DisclosureHistoryService } from './disclosure-history.service.js';
import { DisclosuresController } from './disclosures.controller.js';
import { DisclosuresRepository, DisclosureBatchEntity } from './disclosures.repository.js';
import { DisclosuresService } from './disclosures.service.js';
import { MONTHS_KEPT, DisclosureDayEntity } from './disclosure.js';

const DISCLOSURES_PURGE: PurgeTask[] = [
  {
    table: 'disclosure_days',
    by: 'day',
    before: `((now() AT TIME ZONE 'UTC')::date - interval '${MONTHS_KEPT} months')::date`,
  },
  { table: 'disclosure_batches', by: 'received_at', before: "now() - interval '72 hours'" },
];

/** What was read of users' data, by application and day (contract §26). */
@Module({
  imports: [
    ActivityModule,
    TokensModule,
    UsersModule,
    TypeOrmModule.forFeature([DisclosureBatchEntity, DisclosureDayEntity, DisclosureRollUpEntity]),
  ],
  controllers: [DisclosuresController],
  providers: [
    DeliverySumsRepository,
    DisclosedReadsService,
    DisclosureHistoryRepository,
    DisclosureHistoryService,
    DisclosuresRepository,
    DisclosuresService,
  ],
  exports: [DisclosedReadsService, DisclosureHistoryService],
})
export class DisclosuresModule {
  constructor(private readonly sums: DeliverySumsRepository) {}

  @Answers('purge.tasks')
  purged(): (PurgeTask | PurgePreparation)[] {
    return [
      ...DISCLOSURES_PURGE,
      {
        table: 'disclosure_days',
        runBatch: (retentionDays, limit) => this.sums.rollUp(retentionDays, limit),
      },
    ];
  }
}
