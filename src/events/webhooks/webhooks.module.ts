import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ActivityModule } from '#records/activity/activity.module.js';
import { AuditModule } from '#records/audit/audit.module.js';
import { ClientsModule } from '#access/clients/clients.module.js';
import { ConsentsModule } from '#access/consents/consents.module.js';
import { DisclosuresModule } from '#events/disclosures/disclosures.module.js';
import { NotificationsModule } from '#records/notifications/notifications.module.js';
import { ScopesModule } from '#access/scopes/scopes.module.js';
import { TokensModule } from '#access/tokens/tokens.module.js';
import { UsersModule } from '#access/users/users.module.js';
import { Settings } from '#platform/config/settings.js';
import { MailModule } from '#records/mail/mail.module.js';
import { Answers } from '#platform/database/domain/domain-map.js';
import { DeliveriesRepository } from './deliveries/deliveries.repository.js';
import { DeliveriesService } from './deliveries/deliveries.service.js';
import { DeliveryAttemptEntity } from './deliveries/delivery-attempt.entity.js';
import { DeliveryAttemptService } from './deliveries/delivery-attempt.service.js';
import { DeliveryEntity } from './deliveries/delivery.entity.js';
import { DeliveryErasure } from './deliveries/delivery-erasure.js';
import { DeliveryQueueRepository } from './deliveries/delivery-queue.repository.js';
import { DeliveryResultsService } from './deliveries/delivery-results.service.js';
import { DeliveryWorker } from './deliveries/delivery-worker.service.js';
import { RecoveriesRepository } from './deliveries/recoveries.repository.js';
import { RecoveriesService } from './deliveries/recoveries.service.js';
import { RecoveryEntity } from './deliveries/recovery.entity.js';
import { WakeUps } from './deliveries/wake-ups.service.js';
import { EndpointAddresses } from './endpoints/endpoint-addresses.service.js';
import { EndpointPauseEntity } from './endpoints/endpoint-pause.entity.js';
import { EndpointResealService } from './endpoints/endpoint-reseal.service.js';
import { EndpointRules } from './endpoints/endpoint-rules.service.js';
import { EndpointSecrets } from './endpoints/endpoint-secrets.service.js';
import { EndpointTroubles } from './endpoints/endpoint-troubles.js';
import { EndpointEntity, EndpointThrottleEntity } from './endpoints/endpoint.entity.js';
import { EndpointsRepository, EndpointHourEntity } from './endpoints/endpoints.repository.js';
import { EndpointsService } from './endpoints/endpoints.service.js';
import { EventCatalogueController } from './event-types/event-catalogue.controller.js';
import { EventCatalogueService } from './event-types/event-catalogue.service.js';
import { EventValidation } from './event-types/event-validation.service.js';
import { EventTypeEntity, EventTypeVersionEntity } from './event-types/event-type.entity.js';
import { EventTypesRepository } from './event-types/event-types.repository.js';
import { EventTypesService } from './event-types/event-types.service.js';
import { UserEventPublisher } from './events/user-event-publisher.js';
import { EventEntity } from './events/event.entity.js';
import { EventsController } from './events/events.controller.js';
import {
  EventsRepository,
  EventIdempotencyKeyEntity,
  EventSequenceEntity,
} from './events/events.repository.js';
import { PublishingService } from './events/publishing.service.js';
import { SchemaBreaks } from './events/schema-breaks.service.js';
import { TestEventsService } from './events/test-events.service.js';
import { EventFeedController } from './feed/event-feed.controller.js';
import { EventFeedRepository } from './feed/event-feed.repository.js';
import { RecentEventsService } from './events/recent-events.service.js';
import { EventFeed } from './feed/event-feed.service.js';
import { FeedPositions } from './feed/feed-position.js';
import { FeedWaits } from './feed/feed-waits.service.js';
import { FilterPreviews } from './filters/filter-preview.service.js';
import { QueriedFilters } from './filters/queried-filters.service.js';
import { GuardedHttpClient } from './http/guarded-http-client.js';
import { EncryptionCanaryEntity } from './signing/encryption-canary.entity.js';
import { ReceiverCredentials } from './receiver-tokens/receiver-credentials.service.js';
import { ReceiverTokens } from './receiver-tokens/receiver-tokens.service.js';
import { WebhookKeyEntity } from './signing/webhook-key.entity.js';
import { WebhookKeysController } from './signing/webhook-keys.controller.js';
import { OVERLAP, WebhookKeysRepository } from './signing/webhook-keys.repository.js';
import { WebhookKeys } from './signing/webhook-keys.service.js';
import { WebhooksPersonalData } from './webhooks-personal-data.service.js';
import { isRolledUp } from '#events/disclosures/deliveries-of-event.sql.js';
import { RETENTION, type PurgeTask } from '#platform/database/purge/purge-tasks.js';

const ENTITIES = [
  DeliveryAttemptEntity,
  DeliveryEntity,
  EncryptionCanaryEntity,
  EndpointEntity,
  EndpointHourEntity,
  EndpointPauseEntity,
  EndpointThrottleEntity,
  EventEntity,
  EventIdempotencyKeyEntity,
  EventSequenceEntity,
  EventTypeEntity,
  EventTypeVersionEntity,
  RecoveryEntity,
  WebhookKeyEntity,
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
    DisclosuresModule,
    ScopesModule,
    TokensModule,
    ActivityModule,
    TypeOrmModule.forFeature(ENTITIES),
  ],
  controllers: [EventCatalogueController, EventFeedController, EventsController, WebhookKeysController],
  providers: [
    UserEventPublisher,
    DeliveriesRepository,
    DeliveriesService,
    DeliveryAttemptService,
    DeliveryErasure,
    DeliveryQueueRepository,
    DeliveryResultsService,
    DeliveryWorker,
    EndpointAddresses,
    EndpointResealService,
    EndpointRules,
    EndpointSecrets,
    EndpointTroubles,
    EndpointsRepository,
    EndpointsService,
    EventCatalogueService,
    EventValidation,
    EventFeed,
    EventFeedRepository,
    EventTypesRepository,
    EventTypesService,
    EventsRepository,
    FeedPositions,
    FeedWaits,
    FilterPreviews,
    QueriedFilters,
    PublishingService,
    ReceiverCredentials,
    ReceiverTokens,
    RecentEventsService,
    RecoveriesRepository,
    RecoveriesService,
    SchemaBreaks,
    WebhookKeys,
    WebhookKeysRepository,
    TestEventsService,
    WakeUps,
    WebhooksPersonalData,
    {
      provide: GuardedHttpClient,
      inject: [Settings],
      useFactory: ({ webhookAllowPrivateAddresses, ownReceiver, demonstration }: Settings) =>
        new GuardedHttpClient({
          allowPrivateAddresses: webhookAllowPrivateAddresses,
          ownReceiver,
          sandboxesReachThisMachine: demonstration,
        }),
    },
  ],
  exports: [
    DeliveriesService,
    EndpointResealService,
    EndpointAddresses,
    EndpointTroubles,
    EndpointsService,
    EventCatalogueService,
    EventTypesService,
    FilterPreviews,
    PublishingService,
    RecentEventsService,
    RecoveriesService,
    WebhookKeys,
    TestEventsService,
  ],
})
export class WebhooksModule {
  @Answers('purge.tasks')
  purged(): PurgeTask[] {
    return [
      { table: 'event_idempotency_keys', by: 'created_at', before: "now() - interval '24 hours'" },
      // With its deliveries and their attempts, unless one of them is still pending, once they are in the sums of what was read.
      {
        table: 'events',
        by: 'created_at',
        before: RETENTION,
        condition: `${isRolledUp('t.created_at')}
                AND NOT EXISTS (SELECT 1 FROM deliveries WHERE event_id = t.id AND state = 'pending')`,
      },
      // A thing that is silent for longer starts again at 1.
      {
        table: 'event_sequences',
        by: 'seen_on',
        before: `least(${RETENTION}, now() - interval '400 days')`,
      },
      // With the deliveries to it.
      {
        table: 'webhook_endpoints',
        by: 'deleted_at',
        before: RETENTION,
        condition: isRolledUp('t.deleted_at'),
      },
      // As long as the one before signs, too.
      { table: 'webhook_signing_keys', by: 'retired_at', before: `now() - ${OVERLAP}` },
      { table: 'webhook_endpoint_hours', by: 'hour', before: RETENTION },
      { table: 'webhook_recoveries', by: 'created_at', before: RETENTION },
      { table: 'webhook_pauses', by: 'enabled_at', before: RETENTION },
    ];
  }
}
