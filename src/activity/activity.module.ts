import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ActivityHourEntity } from './activity-hour.entity.js';
import { ActivityRepository } from './activity.repository.js';
import { ActivityService } from './activity.service.js';

/** Hourly activity, for the console's charts and for finding out why a partner is refused. */
@Module({
  imports: [TypeOrmModule.forFeature([ActivityHourEntity])],
  providers: [ActivityRepository, ActivityService],
  exports: [ActivityService],
})
export class ActivityModule {}
