import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { Shown } from '#platform/language/text.js';
import { TextOrNull, TimeOrNull } from '#platform/database/entities/columns.js';

export const NOTIFICATION_CATEGORIES = ['ACTIONABLE', 'SERVICE', 'RETRY', 'MARKETING', 'INTERNAL'] as const;
export type NotificationCategory = (typeof NOTIFICATION_CATEGORIES)[number];

/** The message keys and values of the service's own notifications. */
export type StoredMessages = Partial<
  Record<'shortTextTitle' | 'shortTextBody' | 'detailPageTitle' | 'detailPageBody', Shown>
>;

/** Something a user should know (source specification §2.4). */
@Entity('notifications')
export class NotificationEntity {
  @PrimaryColumn('text') id!: string;
  @Column('text') userId!: string;
  /** The client it is about, whose tokens may read it; null if only the user's own page shows it. */
  @TextOrNull() clientId!: string | null;
  @Column('text') messageId!: string;
  @Column('text') category!: NotificationCategory;
  @Column('timestamptz') eventTime!: Date;
  @Column('text') shortTextTitle!: string;
  @Column('text') shortTextBody!: string;
  @TextOrNull() detailPageTitle!: string | null;
  @TextOrNull() detailPageBody!: string | null;
  /** The message keys and values of the texts; null for a notification by an operator. */
  @Column('jsonb', { nullable: true }) messages!: StoredMessages | null;
  @TextOrNull() externalLink!: string | null;
  @TextOrNull() externalButtonLabel!: string | null;
  @TimeOrNull() readAt!: Date | null;
  @TimeOrNull() resolvedAt!: Date | null;
  /** When the service resolves it automatically. */
  @TimeOrNull() resolveAt!: Date | null;
}
