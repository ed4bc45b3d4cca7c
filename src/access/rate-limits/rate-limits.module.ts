import { Global, Module, type DynamicModule } from '@nestjs/common';
import { ThrottlerModule } from '@nestjs/throttler';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ActivityModule } from '#records/activity/activity.module.js';
import { ClientsModule } from '#access/clients/clients.module.js';
import { TokensModule } from '#access/tokens/tokens.module.js';
import { UsersModule } from '#access/users/users.module.js';
import { Settings } from '#platform/config/settings.js';
import { AddressLimits, AddressRateLimitGuard } from '#platform/http/guards/address-rate-limit.guard.js';
import { SessionLimits } from '#platform/http/guards/session-limits.js';
import { Answers } from '#platform/database/domain/domain-map.js';
import { KnownPartnerLimitGuard } from './partners/known-partner-limit.guard.js';
import { LimitedBearerGuard } from './partners/limited-bearer.guard.js';
import { partnerLimit } from './partners/partner-limit.js';
import { MailLimitsService } from './sign-in/mail-limits.service.js';
import { PartnerRateLimitGuard } from './partners/partner-rate-limit.guard.js';
import { PartnersOverLimit } from './partners/partners-over-limit.service.js';
import { RateLimitsPersonalData } from './partners/rate-limits-personal-data.service.js';
import {
  RateLimitNotificationsRepository,
  RateLimitPeriodEntity,
} from './partners/rate-limit-notifications.repository.js';
import { RateLimitNotificationsService } from './partners/rate-limit-notifications.service.js';
import { SandboxFaultsModule } from '#access/sandbox-faults/sandbox-faults.module.js';
import { SandboxFaultGuard } from './partners/sandbox-fault.guard.js';
import { RateLimitsService } from './rate-limits.service.js';
import { AddressRefusals } from './address-refusals.js';
import { PasswordConfirmations } from './sign-in/password-confirmations.service.js';
import { SessionLimitsService } from './sessions/session-limits.service.js';
import { SignInLimitsService } from './sign-in/sign-in-limits.service.js';
import { RATE_LIMIT_STORE } from './store/rate-limit-store.js';
import { RateLimitStoreLifecycle, createRateLimitStore } from './store/shared-rate-limit-store.js';
import { RateLimitThrottlerStorage } from './store/throttler-storage.js';
import type { PurgeTask } from '#platform/database/purge/purge-tasks.js';

/** The store of the counters, shared over Redis if configured, and the limits built on it. */
@Global()
@Module({
  imports: [ActivityModule, UsersModule],
  providers: [
    { provide: RATE_LIMIT_STORE, useFactory: createRateLimitStore, inject: [Settings] },
    RateLimitStoreLifecycle,
    AddressRefusals,
    RateLimitsService,
    { provide: AddressLimits, useExisting: RateLimitsService },
    { provide: SessionLimits, useClass: SessionLimitsService },
    SignInLimitsService,
    MailLimitsService,
    PasswordConfirmations,
  ],
  exports: [
    AddressLimits,
    MailLimitsService,
    RateLimitsService,
    SessionLimits,
    SignInLimitsService,
    PasswordConfirmations,
  ],
})
class RateLimitCountersModule {}

/** Limits for partners, clients, addresses and logins (contract §7). */
@Global()
@Module({})
export class RateLimitsModule {
  @Answers('purge.tasks')
  purged(): PurgeTask[] {
    return [{ table: 'rate_limit_periods', by: 'ends_at' }];
  }

  static forRoot(settings: Settings): DynamicModule {
    return {
      module: RateLimitsModule,
      imports: [
        ClientsModule,
        TokensModule,
        SandboxFaultsModule,
        ActivityModule,
        UsersModule,
        TypeOrmModule.forFeature([RateLimitPeriodEntity]),
        RateLimitCountersModule,
        ThrottlerModule.forRootAsync({
          inject: [RateLimitsService],
          useFactory: (limits: RateLimitsService) => ({
            throttlers: [partnerLimit(settings)],
            storage: new RateLimitThrottlerStorage(limits),
          }),
        }),
      ],
      providers: [
        AddressRateLimitGuard,
        KnownPartnerLimitGuard,
        LimitedBearerGuard,
        PartnerRateLimitGuard,
        PartnersOverLimit,
        RateLimitNotificationsRepository,
        RateLimitNotificationsService,
        RateLimitsPersonalData,
        SandboxFaultGuard,
      ],
      exports: [
        SandboxFaultsModule,
        SandboxFaultGuard,
        AddressRateLimitGuard,
        KnownPartnerLimitGuard,
        LimitedBearerGuard,
        PartnerRateLimitGuard,
        PartnersOverLimit,
        RateLimitNotificationsService,
        ThrottlerModule,
      ],
    };
  }
}
