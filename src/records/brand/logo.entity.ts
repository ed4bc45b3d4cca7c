import { Column, Entity, PrimaryColumn } from 'typeorm';

/** An image that stands for the service or for a client. */
@Entity('logos')
export class LogoEntity {
  /** The SHA-256 digest of the image. */
  @PrimaryColumn('text')
  id!: string;

  /** PNG. */
  @Column('bytea', { select: false })
  image!: Buffer;

  @Column({ type: 'timestamptz' })
  storedAt!: Date;
}
