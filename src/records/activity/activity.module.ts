import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { PurgeTasks } from '#platform/database/purge/purge-tasks.js';
import { ActivityHourEntity } from './activity-hour.entity.js';
import { ActivityRepository } from './activity.repository.js';
import { ActivityService } from './activity.service.js';
import { ACTIVITY_PURGE } from './activity-purge.js';

/** Hourly activity, for the console's charts and for finding out why a partner is refused. */
@Module({
  imports: [TypeOrmModule.forFeature([ActivityHourEntity])],
  providers: [ActivityRepository, ActivityService],
  exports: [ActivityService],
})
export class ActivityModule {
  constructor(purge: PurgeTasks) {
    purge.add(ACTIVITY_PURGE);
  }
}
