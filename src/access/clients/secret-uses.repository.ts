import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository, Column, Entity, PrimaryColumn } from 'typeorm';

/** When a client last authenticated with one of its secrets, to the hour. */
@Entity('client_secret_uses')
export class ClientSecretUseEntity {
  @PrimaryColumn('text') clientId!: string;
  @PrimaryColumn('bytea') digest!: Buffer;
  @Column('timestamptz') lastUsedAt!: Date;
}

/** A secret or a key that was used. */
export interface SecretUse {
  clientId: string;
  digest: Buffer;
  isKey: boolean;
}

/** When a client last authenticated with one of its keys, to the hour. */
@Entity('client_key_uses')
export class ClientKeyUseEntity {
  @PrimaryColumn('text') clientId!: string;
  /** The SHA-256 thumbprint of the key (RFC 7638). */
  @PrimaryColumn('bytea') digest!: Buffer;
  @Column('timestamptz') lastUsedAt!: Date;
}

@Injectable()
export class SecretUsesRepository {
  constructor(
    @InjectRepository(ClientSecretUseEntity) private readonly uses: Repository<ClientSecretUseEntity>,
    @InjectRepository(ClientKeyUseEntity) private readonly keyUses: Repository<ClientKeyUseEntity>,
  ) {}

  /**
   * Notes that these secrets were used in the current hour, always in the same order, so that instances do not deadlock. In SQL, because
   * one statement writes many rows, and only of secrets that are still there.
   */
  async note(used: SecretUse[]): Promise<void> {
    await this.uses.query(
      `INSERT INTO client_secret_uses AS u (client_id, digest, last_used_at)
       SELECT s.client_id, s.digest, date_trunc('hour', now(), 'UTC')
         FROM unnest($1::text[], $2::bytea[]) AS given (client_id, digest)
         JOIN client_secrets s ON s.client_id = given.client_id AND s.digest = given.digest
        ORDER BY 1, 2
       ON CONFLICT (client_id, digest) DO UPDATE SET last_used_at = excluded.last_used_at
         WHERE u.last_used_at < excluded.last_used_at`,
      [used.map(({ clientId }) => clientId), used.map(({ digest }) => digest)],
    );
  }

  /** The same of keys, whose client is still there. */
  async noteKeys(used: SecretUse[]): Promise<void> {
    await this.keyUses.query(
      `INSERT INTO client_key_uses AS u (client_id, digest, last_used_at)
       SELECT c.id, given.digest, date_trunc('hour', now(), 'UTC')
         FROM unnest($1::text[], $2::bytea[]) AS given (client_id, digest) JOIN clients c ON c.id = given.client_id
        ORDER BY 1, 2
       ON CONFLICT (client_id, digest) DO UPDATE SET last_used_at = excluded.last_used_at
         WHERE u.last_used_at < excluded.last_used_at`,
      [used.map(({ clientId }) => clientId), used.map(({ digest }) => digest)],
    );
  }

  /** When the keys of a client were last used. */
  keyUsesOf(clientId: string): Promise<ClientKeyUseEntity[]> {
    return this.keyUses.findBy({ clientId });
  }
}
