import { Column, Entity, PrimaryColumn } from 'typeorm';

/** What an admin has set, in the only row. Null: as the settings say; empty: nothing. */
@Entity('brand')
export class BrandEntity {
  @PrimaryColumn('boolean', { name: 'is_only' })
  isOnly!: boolean;

  @Column('text', { nullable: true })
  name!: string | null;

  @Column('text', { name: 'accent_color', nullable: true })
  accentColor!: string | null;

  @Column('text', { name: 'support_email', nullable: true })
  supportEmail!: string | null;

  @Column('text', { name: 'privacy_url', nullable: true })
  privacyUrl!: string | null;

  @Column('text', { name: 'terms_url', nullable: true })
  termsUrl!: string | null;

  @Column('text', { nullable: true })
  footer!: string | null;

  @Column('text', { name: 'logo_id', nullable: true })
  logoId!: string | null;

  @Column({ type: 'timestamptz', name: 'changed_at' })
  changedAt!: Date;
}
