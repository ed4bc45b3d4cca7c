import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Answers } from '#platform/database/domain/domain-map.js';
import { ActivityRepository, ActivityHourEntity } from './activity.repository.js';
import { ActivityService } from './activity.service.js';
import { RETENTION, type PurgeTask } from '#platform/database/purge/purge-tasks.js';

/** Hourly activity, for the console's charts and for finding out why a partner is refused. */
@Module({
  imports: [TypeOrmModule.forFeature([ActivityHourEntity])],
  providers: [ActivityRepository, ActivityService],
  exports: [ActivityService],
})
export class ActivityModule {
  @Answers('purge.tasks')
  purged(): PurgeTask[] {
    return [{ table: 'activity_hours', by: 'hour', before: RETENTION }];
  }
}
