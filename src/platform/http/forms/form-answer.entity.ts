import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A form that was posted a moment ago, and what it was answered; only for the browser that posted it. */
@Entity('form_answers')
export class FormAnswerEntity {
  /** Of the browser's CSRF secret and all that was posted. */
  @PrimaryColumn('bytea')
  digest!: Buffer;

  /** Tells the request that handles it from one that took over. */
  @Column('bytea')
  attempt!: Buffer;

  /** Sealed for the browser; null as long as the form is handled. */
  @Column('bytea', { nullable: true })
  sealedAnswer!: Buffer | null;

  @Column('timestamptz')
  expiresAt!: Date;
}
