import { Global, Module } from '@nestjs/common';
import { ActivityRepository } from './activity.repository.js';
import { ActivityService } from './activity.service.js';

/** What happened by the hour, for the console's pictures and for whoever asks why a partner is refused. */
@Global()
@Module({ providers: [ActivityRepository, ActivityService], exports: [ActivityService] })
export class ActivityModule {}
