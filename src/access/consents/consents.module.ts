import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuditModule } from '#records/audit/audit.module.js';
import { ConsentImportService } from './import/consent-import.service.js';
import { Answers } from '#platform/database/domain/domain-map.js';
import { ClientsModule } from '#access/clients/clients.module.js';
import { NotificationsModule } from '#records/notifications/notifications.module.js';
import { ScopesModule } from '#access/scopes/scopes.module.js';
import { UsersModule } from '#access/users/users.module.js';
import { ConsentEntity } from './consent.entity.js';
import { ConsentsPersonalData } from './consents-personal-data.service.js';
import { ChangedMeanings } from './changed-meanings.service.js';
import { ChangedMeaningsRepository } from './changed-meanings.repository.js';
import { ConsentsRepository } from './consents.repository.js';
import { ConsentsService } from './consents.service.js';
import { ConsentApprovals } from './consent-approvals.service.js';
import { ConsentExpiryRepository, ConsentNoticeEntity } from './consent-expiry.repository.js';
import { ConsentExpiryService } from './consent-expiry.service.js';
import { ConsentRecordService } from './record/consent-record.service.js';
import { ConsentVersionEntity } from './record/consent-version.entity.js';
import { ConsentVersionsRepository } from './record/consent-versions.repository.js';
import { ConsentWordsRepository, ConsentWordsEntity } from './record/consent-words.repository.js';
import { RETENTION, type PurgeTask } from '#platform/database/purge/purge-tasks.js';

const EXPORTED = [
  ConsentExpiryService,
  ConsentImportService,
  ConsentRecordService,
  ConsentsService,
  ConsentApprovals,
];

/** Which user consented to what for which client. */
@Module({
  imports: [
    ClientsModule,
    ScopesModule,
    AuditModule,
    UsersModule,
    NotificationsModule,
    TypeOrmModule.forFeature([ConsentEntity, ConsentNoticeEntity, ConsentVersionEntity, ConsentWordsEntity]),
  ],
  providers: [
    ...EXPORTED,
    ChangedMeanings,
    ChangedMeaningsRepository,
    ConsentsPersonalData,
    ConsentsRepository,
    ConsentExpiryRepository,
    ConsentVersionsRepository,
    ConsentWordsRepository,
  ],
  exports: EXPORTED,
})
export class ConsentsModule {
  @Answers('purge.tasks')
  purged(): PurgeTask[] {
    return [
      { table: 'consent_notices', by: 'expires_at', before: RETENTION },
      // Five years after the end, a period fixed in the function: the service itself must not delete from the record.
      { table: 'consent_versions', by: 'recorded_at', function: 'purge_consent_versions' },
    ];
  }
}
