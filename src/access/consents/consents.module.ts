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
import { ConsentNoticeEntity } from './consent-notice.entity.js';
import { ConsentWordsEntity } from './record/consent-words.entity.js';
import { ConsentExpiryRepository } from './consent-expiry.repository.js';
import { ConsentExpiryService } from './consent-expiry.service.js';
import { CONSENTS_PURGE } from './consents-purge.js';
import { ConsentRecordService } from './record/consent-record.service.js';
import { ConsentVersionEntity } from './record/consent-version.entity.js';
import { ConsentVersionsRepository } from './record/consent-versions.repository.js';
import { ConsentWordsRepository } from './record/consent-words.repository.js';

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
  purged() {
    return CONSENTS_PURGE;
  }
}
