import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ActivityModule } from '../activity/activity.module.js';
import { AuditModule } from '../audit/audit.module.js';
import { ClientsModule } from '../clients/clients.module.js';
import { ConsentsModule } from '../consents/consents.module.js';
import { NotificationsModule } from '../notifications/notifications.module.js';
import { TokensModule } from '../tokens/tokens.module.js';
import { UsersModule } from '../users/users.module.js';
import { Settings } from '../config/settings.js';
import { MailModule } from '../mail/mail.module.js';
import { ContactEntity } from './contacts/contact.entity.js';
import { ContactsRepository } from './contacts/contacts.repository.js';
import { ContactsService } from './contacts/contacts.service.js';
import { DeliveriesRepository } from './deliveries/deliveries.repository.js';
import { DeliveriesService } from './deliveries/deliveries.service.js';
import { DeliveryAttemptEntity } from './deliveries/delivery-attempt.entity.js';
import { DeliveryAttemptService } from './deliveries/delivery-attempt.service.js';
import { DeliveryEntity } from './deliveries/delivery.entity.js';
import { DeliveryErasure } from './deliveries/delivery-erasure.js';
import { DeliveryQueueRepository } from './deliveries/delivery-queue.repository.js';
import { DeliveryResultsService } from './deliveries/delivery-results.service.js';
import { DeliveryWorker } from './deliveries/delivery-worker.service.js';
import { RecoveryEntity } from './deliveries/recovery.entity.js';
import { WakeUps } from './deliveries/wake-ups.service.js';
import { EndpointAddresses } from './endpoints/endpoint-addresses.service.js';
import { EndpointHourEntity } from './endpoints/endpoint-hour.entity.js';
import { EndpointResealService } from './endpoints/endpoint-reseal.service.js';
import { EndpointSecrets } from './endpoints/endpoint-secrets.service.js';
import { EndpointEntity } from './endpoints/endpoint.entity.js';
import { EndpointsRepository } from './endpoints/endpoints.repository.js';
import { EndpointsService } from './endpoints/endpoints.service.js';
import { EventTypeEntity } from './event-types/event-type.entity.js';
import { EventTypesService } from './event-types/event-types.service.js';
import { ConsentEventPublisher } from './events/consent-event-publisher.js';
import { EventIdempotencyKeyEntity } from './events/event-idempotency-key.entity.js';
import { EventEntity } from './events/event.entity.js';
import { EventsController } from './events/events.controller.js';
import { EventsRepository } from './events/events.repository.js';
import { PublishingService } from './events/publishing.service.js';
import { TestEventsService } from './events/test-events.service.js';
import { GuardedHttpClient } from './http/guarded-http-client.js';
import { EncryptionCanaryEntity } from './signing/encryption-canary.entity.js';

const ENTITIES = [
  ContactEntity,
  DeliveryAttemptEntity,
  DeliveryEntity,
  EncryptionCanaryEntity,
  EndpointEntity,
  EndpointHourEntity,
  EventEntity,
  EventIdempotencyKeyEntity,
  EventTypeEntity,
  RecoveryEntity,
];

/** Webhooks (contract §10): the event catalogue, publishing, endpoints, and the worker that delivers. */
@Module({
  imports: [
    AuditModule,
    UsersModule,
    ClientsModule,
    MailModule,
    NotificationsModule,
    ConsentsModule,
    TokensModule,
    ActivityModule,
    TypeOrmModule.forFeature(ENTITIES),
  ],
  controllers: [EventsController],
  providers: [
    ConsentEventPublisher,
    ContactsRepository,
    ContactsService,
    DeliveriesRepository,
    DeliveriesService,
    DeliveryAttemptService,
    DeliveryErasure,
    DeliveryQueueRepository,
    DeliveryResultsService,
    DeliveryWorker,
    EndpointAddresses,
    EndpointResealService,
    EndpointSecrets,
    EndpointsRepository,
    EndpointsService,
    EventTypesService,
    EventsRepository,
    PublishingService,
    TestEventsService,
    WakeUps,
    {
      provide: GuardedHttpClient,
      inject: [Settings],
      useFactory: ({ webhookAllowPrivateAddresses }: Settings) =>
        new GuardedHttpClient({ allowPrivateAddresses: webhookAllowPrivateAddresses }),
    },
  ],
  exports: [
    ContactsService,
    DeliveriesService,
    EndpointResealService,
    EndpointsService,
    EventTypesService,
    PublishingService,
    TestEventsService,
  ],
})
export class WebhooksModule {}
