import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { Shown } from '../language/text.js';

export const NOTIFICATION_CATEGORIES = ['ACTIONABLE', 'SERVICE', 'RETRY', 'MARKETING', 'INTERNAL'] as const;
export type NotificationCategory = (typeof NOTIFICATION_CATEGORIES)[number];

/** What stands behind the texts of the service's own notifications. */
export type StoredMessages = Partial<
  Record<'shortTextTitle' | 'shortTextBody' | 'detailPageTitle' | 'detailPageBody', Shown>
>;

/** Something a user should know (source specification §2.4). */
@Entity('notifications')
export class NotificationEntity {
  @PrimaryColumn('text')
  id!: string;

  @Column('text', { name: 'user_id' })
  userId!: string;

  /** The client it is about, whose tokens may read it; null if only the user's own page shows it. */
  @Column('text', { name: 'client_id', nullable: true })
  clientId!: string | null;

  @Column('text', { name: 'message_id' })
  messageId!: string;

  @Column('text')
  category!: NotificationCategory;

  @Column('timestamptz', { name: 'event_time' })
  eventTime!: Date;

  @Column('text', { name: 'short_text_title' })
  shortTextTitle!: string;

  @Column('text', { name: 'short_text_body' })
  shortTextBody!: string;

  @Column('text', { name: 'detail_page_title', nullable: true })
  detailPageTitle!: string | null;

  @Column('text', { name: 'detail_page_body', nullable: true })
  detailPageBody!: string | null;

  /** What the texts are made of; null for what an operator wrote. */
  @Column('jsonb', { nullable: true })
  messages!: StoredMessages | null;

  @Column('text', { name: 'external_link', nullable: true })
  externalLink!: string | null;

  @Column('text', { name: 'external_button_label', nullable: true })
  externalButtonLabel!: string | null;

  @Column('timestamptz', { name: 'read_at', nullable: true })
  readAt!: Date | null;

  @Column('timestamptz', { name: 'resolved_at', nullable: true })
  resolvedAt!: Date | null;

  /** When the service resolves it automatically. */
  @Column('timestamptz', { name: 'resolve_at', nullable: true })
  resolveAt!: Date | null;
}
