import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ActivityModule } from '#records/activity/activity.module.js';
import { AuditModule } from '#records/audit/audit.module.js';
import { BrandModule } from '#records/brand/brand.module.js';
import { ClientsModule } from '#access/clients/clients.module.js';
import { MailModule } from '#records/mail/mail.module.js';
import { NotificationsModule } from '#records/notifications/notifications.module.js';
import { RequestsModule } from '#records/requests/requests.module.js';
import { UsersModule } from '#access/users/users.module.js';
import { Answers } from '#platform/database/domain/domain-map.js';
import { InvitationEntity } from './members/invitation.entity.js';
import { InvitationLinks } from './members/invitation-links.service.js';
import { InvitationsRepository } from './members/invitations.repository.js';
import { InvitationsService } from './members/invitations.service.js';
import { MemberEntity } from './members/member.entity.js';
import { MembersRepository, MemberClientsRepository } from './members/members.repository.js';
import { MembersService } from './members/members.service.js';
import { OperatorInvitationsService } from './members/operator-invitations.service.js';
import { ClientRequestEntity } from './request-log/client-request.entity.js';
import { ClientRequestsRepository } from './request-log/client-requests.repository.js';
import { KnownRequests } from './request-log/known-requests.service.js';
import { RequestLogService } from './request-log/request-log.service.js';
import { PartnersPersonalData } from './partners-personal-data.service.js';
import { RETENTION, type PurgeTask } from '#platform/database/purge/purge-tasks.js';

const EXPORTED = [
  InvitationsService,
  KnownRequests,
  MembersService,
  OperatorInvitationsService,
  RequestLogService,
];

/** What partners manage themselves (contract §20): members of organisations, and the log of their requests. */
@Module({
  imports: [
    ActivityModule,
    AuditModule,
    BrandModule,
    ClientsModule,
    MailModule,
    NotificationsModule,
    RequestsModule,
    UsersModule,
    TypeOrmModule.forFeature([ClientRequestEntity, InvitationEntity, MemberEntity]),
  ],
  providers: [
    ...EXPORTED,
    ClientRequestsRepository,
    InvitationLinks,
    InvitationsRepository,
    MemberClientsRepository,
    MembersRepository,
    PartnersPersonalData,
  ],
  exports: EXPORTED,
})
export class PartnersModule {
  @Answers('purge.tasks')
  purged(): PurgeTask[] {
    return [
      { table: 'organisation_invitations', by: 'expires_at' },
      { table: 'client_requests', by: 'occurred_at', before: RETENTION },
    ];
  }
}
