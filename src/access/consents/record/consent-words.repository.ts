import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type Repository, Column, Entity, PrimaryColumn } from 'typeorm';
import type { KeptWords } from './consent-words.js';

/** The exact words of a consent page, stored once for everyone who saw them. */
@Entity('consent_words')
export class ConsentWordsEntity {
  /** SHA-256 of the words. */
  @PrimaryColumn('bytea') digest!: Buffer;
  @Column('text') language!: string;
  @Column('text') words!: string;
}

/** The words that users saw when they consented: each text once, and never changed. */
@Injectable()
export class ConsentWordsRepository {
  constructor(@InjectRepository(ConsentWordsEntity) private readonly words: Repository<ConsentWordsEntity>) {}

  /** Stores words, unless they are already stored. */
  async keep({ digest, language, text }: KeptWords): Promise<void> {
    await this.words
      .createQueryBuilder()
      .insert()
      .values({ digest, language, words: text })
      .orIgnore()
      .updateEntity(false)
      .execute();
  }

  /** The text with this digest. */
  async find(digest: Buffer): Promise<string | null> {
    return (await this.words.findOneBy({ digest }))?.words ?? null;
  }
}
