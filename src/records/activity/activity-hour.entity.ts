import { Column, Entity, PrimaryColumn } from 'typeorm';
import { TextOrNull } from '#platform/database/entities/columns.js';

/** How often something happened in an hour: for one client, without a known client, or in total (`all`). */
@Entity('activity_hours')
export class ActivityHourEntity {
  @PrimaryColumn('text')
  clientId!: string;

  @PrimaryColumn('timestamptz')
  hour!: Date;

  @PrimaryColumn('text')
  kind!: string;

  @PrimaryColumn('text')
  detail!: string;

  @Column('bigint')
  count!: string;

  @Column('timestamptz')
  lastAt!: Date;

  @TextOrNull()
  lastAddress!: string | null;
}
