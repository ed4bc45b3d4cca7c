import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Answers } from '#platform/database/domain/domain-map.js';
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
  @Answers('purge.tasks')
  purged() {
    return ACTIVITY_PURGE;
  }
}
