import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type Repository, Column, Entity, PrimaryColumn } from 'typeorm';
import { Statements } from '#platform/database/queries/statements.js';

/** A form that was posted a moment ago, and what it was answered; only for the browser that posted it. */
@Entity('form_answers')
export class FormAnswerEntity {
  /** Of the browser's CSRF secret and all that was posted. */
  @PrimaryColumn('bytea') digest!: Buffer;
  /** Tells the request that handles it from one that took over. */
  @Column('bytea') attempt!: Buffer;
  /** Sealed for the browser; null as long as the form is handled. */
  @Column('bytea', { nullable: true }) sealedAnswer!: Buffer | null;
  @Column('timestamptz') expiresAt!: Date;
}

/** How far a posted form is: this attempt handles it, another does, or it has its sealed answer. */
export type FormState = 'claimed' | 'under way' | Buffer;

@Injectable()
export class FormAnswersRepository {
  constructor(
    @InjectRepository(FormAnswerEntity) private readonly answers: Repository<FormAnswerEntity>,
    private readonly statements: Statements,
  ) {}

  /**
   * Claims a form for one attempt, unless it was claimed within these seconds. One statement, so that of several simultaneous requests
   * one handles the form, and in SQL, because it inserts, takes over and reads.
   */
  async claim(digest: Buffer, attempt: Buffer, seconds: number): Promise<FormState> {
    const [row] = await this.statements.run<{ isClaimed: boolean; answer: Buffer | null }>(
      'claim of a form',
      `WITH claimed AS (
         INSERT INTO form_answers AS f (digest, attempt, expires_at)
         VALUES ($1, $2, now() + make_interval(secs => $3))
         ON CONFLICT (digest) DO UPDATE
           SET attempt = excluded.attempt, sealed_answer = NULL, expires_at = excluded.expires_at
           WHERE f.expires_at <= now()
         RETURNING 1
       )
       SELECT EXISTS (SELECT FROM claimed) AS "isClaimed",
              (SELECT sealed_answer FROM form_answers WHERE digest = $1 AND expires_at > now()) AS answer`,
      [digest, attempt, seconds],
    );
    return row!.isClaimed ? 'claimed' : (row!.answer ?? 'under way');
  }

  /** The state of a form that was claimed and whose answer has not expired; undefined if there is none. */
  async find(digest: Buffer): Promise<Exclude<FormState, 'claimed'> | undefined> {
    const found = await this.answers
      .createQueryBuilder('form')
      .where('form.digest = :digest AND form.expiresAt > now()', { digest })
      .getOne();
    return found ? (found.sealedAnswer ?? 'under way') : undefined;
  }

  /** Keeps the answer for these seconds, unless another attempt has taken over. */
  async store(digest: Buffer, attempt: Buffer, sealedAnswer: Buffer, seconds: number): Promise<void> {
    await this.answers
      .createQueryBuilder()
      .update()
      .set({ sealedAnswer, expiresAt: () => 'now() + make_interval(secs => :seconds)' })
      .where('digest = :digest AND attempt = :attempt', { digest, attempt, seconds })
      .execute();
  }

  /** The form can be posted again. */
  async release(digest: Buffer, attempt: Buffer): Promise<void> {
    await this.answers.delete({ digest, attempt });
  }
}
