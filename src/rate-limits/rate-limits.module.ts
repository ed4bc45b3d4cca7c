import { Global, Module, type DynamicModule } from '@nestjs/common';
import { ThrottlerModule } from '@nestjs/throttler';
import { Settings } from '../config/settings.js';
import { AddressRateLimitGuard } from './address-rate-limit.guard.js';
import { LimitedBearerGuard } from './limited-bearer.guard.js';
import { PartnerRateLimitGuard } from './partner-rate-limit.guard.js';
import { RateLimitNoticesRepository } from './rate-limit-notices.repository.js';
import { RateLimitNoticesService } from './rate-limit-notices.service.js';
import { RateLimitsService } from './rate-limits.service.js';
import { SignInLimitsService } from './sign-in-limits.service.js';
import { RATE_LIMIT_STORE } from './store-token.js';
import { RateLimitStoreLifecycle, createRateLimitStore } from './create-rate-limit-store.js';
import { RateLimitThrottlerStorage } from './throttler-storage.js';

const HOUR_MS = 3_600_000;

/** The store of counters, shared over Redis where there is one, and the limits on top of it. */
@Global()
@Module({
  providers: [
    { provide: RATE_LIMIT_STORE, useFactory: createRateLimitStore, inject: [Settings] },
    RateLimitStoreLifecycle,
    RateLimitsService,
    SignInLimitsService,
  ],
  exports: [RateLimitsService, SignInLimitsService],
})
class RateLimitCountersModule {}

/** Limits for partners, clients, addresses and sign-ins (contract §7). */
@Global()
@Module({})
export class RateLimitsModule {
  static forRoot(settings: Settings): DynamicModule {
    return {
      module: RateLimitsModule,
      imports: [
        RateLimitCountersModule,
        ThrottlerModule.forRootAsync({
          inject: [RateLimitsService],
          useFactory: (limits: RateLimitsService) => ({
            throttlers: [{ ttl: HOUR_MS, limit: settings.rateLimit }],
            storage: new RateLimitThrottlerStorage(limits),
          }),
        }),
      ],
      providers: [
        AddressRateLimitGuard,
        LimitedBearerGuard,
        PartnerRateLimitGuard,
        RateLimitNoticesRepository,
        RateLimitNoticesService,
      ],
      exports: [
        AddressRateLimitGuard,
        LimitedBearerGuard,
        PartnerRateLimitGuard,
        RateLimitNoticesService,
        ThrottlerModule,
      ],
    };
  }
}
