import { Column, Entity, PrimaryColumn } from 'typeorm';

/** What an admin has set, in the only row. Null: as the settings say; empty: nothing. */
@Entity('brand')
export class BrandEntity {
  @PrimaryColumn('boolean')
  isOnly!: boolean;

  @Column('text', { nullable: true })
  name!: string | null;

  @Column('text', { nullable: true })
  accentColor!: string | null;

  @Column('text', { nullable: true })
  supportEmail!: string | null;

  @Column('text', { nullable: true })
  privacyUrl!: string | null;

  @Column('text', { nullable: true })
  termsUrl!: string | null;

  @Column('text', { nullable: true })
  footer!: string | null;

  @Column('text', { nullable: true })
  logoId!: string | null;

  @Column({ type: 'timestamptz' })
  changedAt!: Date;
}
