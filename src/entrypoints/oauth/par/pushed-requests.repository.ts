import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Column, Entity, PrimaryColumn, type Repository } from 'typeorm';

/** An authorization request that its client pushed (RFC 9126), until it is decided or over. */
@Entity('pushed_requests')
export class PushedRequestEntity {
  /** Of the secret part of its `request_uri`. */
  @PrimaryColumn('bytea')
  digest!: Buffer;

  @Column('text')
  clientId!: string;

  /** The parameters as in a query string, without those that authenticated the client. */
  @Column('text')
  query!: string;

  /** Later once a browser has opened it, because logging in takes longer; soon once it is decided. */
  @Column('timestamptz')
  expiresAt!: Date;

  @Column('boolean', { default: false })
  opened!: boolean;

  /** Of the form that decided it: the second click of a double click posts the same. */
  @Column('bytea', { nullable: true })
  decidedBy!: Buffer | null;
}

/** The statements are SQL, because what they set depends on the row. */
@Injectable()
export class PushedRequestsRepository {
  constructor(
    @InjectRepository(PushedRequestEntity) private readonly requests: Repository<PushedRequestEntity>,
  ) {}

  /** Stores a request; false if the client has been deleted meanwhile. */
  async insert(digest: Buffer, clientId: string, query: string, seconds: number): Promise<boolean> {
    const inserted: object[] = await this.requests.manager.query(
      `INSERT INTO pushed_requests (digest, client_id, query, expires_at)
       SELECT $1, id, $3, now() + make_interval(secs => $4) FROM clients WHERE id = $2 FOR KEY SHARE RETURNING 1`,
      [digest, clientId, query, seconds],
    );
    return inserted.length === 1;
  }

  /**
   * The parameters of a client's request, which lasts this long from the first time that it is opened; undefined if there is none. One that
   * is decided is only there for the same form.
   */
  async open(
    digest: Buffer,
    clientId: string,
    form: Buffer | null,
    seconds: number,
  ): Promise<string | undefined> {
    const [rows]: [{ query: string }[], number] = await this.requests.manager.query(
      `UPDATE pushed_requests
          SET opened = true, expires_at = CASE WHEN opened THEN expires_at ELSE now() + make_interval(secs => $4) END
        WHERE digest = $1 AND client_id = $2 AND expires_at > now() AND (decided_by IS NULL OR decided_by = $3)
       RETURNING query`,
      [digest, clientId, form, seconds],
    );
    return rows[0]?.query;
  }

  /** Notes that this form decides the request, which is then over after so many seconds; false if another one has decided it, or it is over. */
  async decide(digest: Buffer, form: Buffer, seconds: number): Promise<boolean> {
    const [, decided]: [object[], number] = await this.requests.manager.query(
      `UPDATE pushed_requests
          SET decided_by = $2,
              expires_at = CASE WHEN decided_by IS NULL THEN now() + make_interval(secs => $3) ELSE expires_at END
        WHERE digest = $1 AND expires_at > now() AND (decided_by IS NULL OR decided_by = $2)`,
      [digest, form, seconds],
    );
    return decided === 1;
  }
}
