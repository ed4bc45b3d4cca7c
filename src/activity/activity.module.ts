import { Global, Module } from '@nestjs/common';
import { ActivityRepository } from './activity.repository.js';
import { ActivityService } from './activity.service.js';

/** Hourly activity, for the console's charts and for finding out why a partner is refused. */
@Global()
@Module({ providers: [ActivityRepository, ActivityService], exports: [ActivityService] })
export class ActivityModule {}
