import { Column, Entity, PrimaryColumn } from 'typeorm';
import { TextOrNull } from '#platform/database/entities/columns.js';

/** The brand as set by an admin, in a single row. Null: as in the settings; empty: none. */
@Entity('brand')
export class BrandEntity {
  @PrimaryColumn('boolean') isOnly!: boolean;
  @TextOrNull() name!: string | null;
  @TextOrNull() accentColor!: string | null;
  @TextOrNull() supportEmail!: string | null;
  @TextOrNull() privacyUrl!: string | null;
  @TextOrNull() termsUrl!: string | null;
  @TextOrNull() footer!: string | null;
  @TextOrNull() logoId!: string | null;
  @Column({ type: 'timestamptz' }) changedAt!: Date;
}
