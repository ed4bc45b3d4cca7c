import { Column, Entity, PrimaryColumn } from 'typeorm';
import { TextOrNull } from '../database/entities/columns.js';

/** What an admin has set, in the only row. Null: as the settings say; empty: nothing. */
@Entity('brand')
export class BrandEntity {
  @PrimaryColumn('boolean')
  isOnly!: boolean;

  @TextOrNull()
  name!: string | null;

  @TextOrNull()
  accentColor!: string | null;

  @TextOrNull()
  supportEmail!: string | null;

  @TextOrNull()
  privacyUrl!: string | null;

  @TextOrNull()
  termsUrl!: string | null;

  @TextOrNull()
  footer!: string | null;

  @TextOrNull()
  logoId!: string | null;

  @Column({ type: 'timestamptz' })
  changedAt!: Date;
}
