import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, Repository } from 'typeorm';
import { PurposeEntity } from './purpose.entity.js';

@Injectable()
export class PurposesRepository {
  constructor(@InjectRepository(PurposeEntity) private readonly purposes: Repository<PurposeEntity>) {}

  /** All purposes, by name. */
  list(): Promise<PurposeEntity[]> {
    return this.purposes.find({ order: { name: 'ASC' } });
  }

  find(name: string): Promise<PurposeEntity | null> {
    return this.purposes.findOneBy({ name });
  }

  /** Unknown names are omitted. */
  findNamed(names: string[]): Promise<PurposeEntity[]> {
    return this.purposes.findBy({ name: In(names) });
  }

  /** The same, locked against deletion until the transaction ends. */
  holdNamed(names: string[]): Promise<PurposeEntity[]> {
    return this.purposes.find({
      where: { name: In(names) },
      order: { name: 'ASC' },
      lock: { mode: 'pessimistic_read' },
    });
  }

  /** Creates the purpose; false if there is one with its name. */
  async insertNew({ name, words }: PurposeEntity): Promise<boolean> {
    const { raw } = await this.purposes
      .createQueryBuilder()
      .insert()
      .values({ name, words })
      .orIgnore()
      .returning('name')
      .execute();
    return (raw as unknown[]).length === 1;
  }

  /** Locks the purpose until the transaction ends. Clients take a share lock on what they declare, so this waits for them. */
  lock(name: string): Promise<PurposeEntity | null> {
    return this.purposes.findOne({ where: { name }, lock: { mode: 'pessimistic_write' } });
  }

  async update({ name, words }: PurposeEntity): Promise<void> {
    await this.purposes.update({ name }, { words });
  }

  async delete(name: string): Promise<void> {
    await this.purposes.delete({ name });
  }

  /** Whether any client declares the purpose. */
  async isDeclared(name: string): Promise<boolean> {
    // By hand: clients are of a higher module, whose entity must not be imported here.
    const found: unknown[] = await this.purposes.manager.query(
      'SELECT 1 FROM clients WHERE $1 = ANY (purposes) LIMIT 1',
      [name],
    );
    return found.length > 0;
  }
}
