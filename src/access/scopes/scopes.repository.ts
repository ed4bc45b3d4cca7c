import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, Repository } from 'typeorm';
import { ScopeEntity } from './scope.entity.js';

/** On which a deletion is announced. */
export const SCOPE_DELETED = 'scope_deleted';

/** What an operator says of a scope. */
export type ScopeInput = Pick<ScopeEntity, 'name' | 'description' | 'translations' | 'audience'>;

/** A scope whose words have come to mean something else, and when: exactly, as the database writes it. */
export interface ChangedMeaning {
  name: string;
  changedAt: string;
}

@Injectable()
export class ScopesRepository {
  constructor(@InjectRepository(ScopeEntity) private readonly scopes: Repository<ScopeEntity>) {}

  /** All scopes, by name. */
  list(): Promise<ScopeEntity[]> {
    return this.scopes.find({ order: { name: 'ASC' } });
  }

  /** All scopes, locked against changes until the transaction ends. */
  listAndHold(): Promise<ScopeEntity[]> {
    return this.scopes.find({ lock: { mode: 'pessimistic_read' } });
  }

  /** Every scope with its number. */
  async numbers(): Promise<{ name: string; number: number }[]> {
    const scopes = await this.scopes.find({ select: { name: true, number: true } });
    return scopes.map(({ name, number }) => ({ name, number: number! }));
  }

  find(name: string): Promise<ScopeEntity | null> {
    return this.scopes.findOneBy({ name });
  }

  /** Unknown names are omitted. */
  findNamed(names: string[]): Promise<ScopeEntity[]> {
    return this.scopes.findBy({ name: In(names) });
  }

  /** Creates the scope, with the next number unless one is given; false if there is one with its name. */
  async insertNew(scope: ScopeInput, number?: number): Promise<boolean> {
    // By hand: an insert that ends in a conflict would take a number, so it is tried for a new name only.
    const given = number === undefined ? [] : [number];
    const rows: unknown[] = await this.scopes.manager.query(
      `INSERT INTO scopes (name, description, audience, translations${given.length ? ', number) OVERRIDING SYSTEM VALUE' : ')'}
       SELECT $1, $2, $3, $4${given.length ? ', $5::int' : ''} WHERE NOT EXISTS (SELECT 1 FROM scopes WHERE name = $1)
       ON CONFLICT (name) DO NOTHING RETURNING 1`,
      [scope.name, scope.description, scope.audience, JSON.stringify(scope.translations), ...given],
    );
    return rows.length === 1;
  }

  async giveNumbers(): Promise<void> {
    await this.scopes.manager.query('UPDATE scopes SET number = DEFAULT WHERE number < 0');
  }

  async delete(name: string): Promise<void> {
    await this.scopes.delete({ name });
    // Instances know its number: a scope that is created again with its name has another.
    await this.scopes.manager.query(`NOTIFY ${SCOPE_DELETED}`);
  }

  /** Whether an event type needs the scope. */
  async isNeeded(name: string): Promise<boolean> {
    // By hand, as for clients.
    const types: unknown[] = await this.scopes.manager.query(
      'SELECT 1 FROM event_types WHERE scope = $1 LIMIT 1',
      [name],
    );
    return types.length > 0;
  }

  /** Reads the scope and locks it until the transaction ends. Clients take a share lock on the catalogue, so this waits for them. */
  lock(name: string): Promise<ScopeEntity | null> {
    return this.scopes.findOne({ where: { name }, lock: { mode: 'pessimistic_write' } });
  }

  async update({ name, description, audience, translations }: ScopeInput): Promise<void> {
    await this.scopes.update({ name }, { description, audience, translations });
  }

  /** Notes that the words mean something else from now on. Requires the lock; by the wall clock, so after everything that it waited for. */
  async changeMeaning(name: string): Promise<void> {
    await this.scopes.manager.query(
      'UPDATE scopes SET meaning_changed_at = clock_timestamp() WHERE name = $1',
      [name],
    );
  }

  /** The scopes with these names, whose meaning stays as it is until the transaction ends. */
  holdNamed(names: string[]): Promise<ScopeEntity[]> {
    return this.scopes.find({
      where: { name: In(names) },
      order: { name: 'ASC' },
      lock: { mode: 'for_key_share' },
    });
  }

  /** The changes of meaning that are not worked off, by name. */
  listChangedMeanings(): Promise<ChangedMeaning[]> {
    return this.scopes.query(
      `SELECT name, meaning_changed_at::text AS "changedAt" FROM scopes
        WHERE meaning_changed_at > coalesce(meaning_worked_off_at, '-infinity') ORDER BY name`,
    );
  }

  /** Before a change is worked off: from now on, `workOffAgain` is noticed at the end. */
  async beginWorkingOff({ name, changedAt }: ChangedMeaning): Promise<void> {
    await this.scopes.query(
      `UPDATE scopes SET meaning_worked_off_at = NULL
        WHERE name = $1 AND meaning_changed_at = $2::timestamptz AND meaning_worked_off_at IS NOT NULL`,
      [name, changedAt],
    );
  }

  /** Notes that this change is worked off, unless there is a later one, or it has to be worked off again. */
  async noteWorkedOff({ name, changedAt }: ChangedMeaning): Promise<void> {
    await this.scopes.query(
      `UPDATE scopes SET meaning_worked_off_at = now()
        WHERE name = $1 AND meaning_changed_at = $2::timestamptz AND meaning_worked_off_at IS NULL`,
      [name, changedAt],
    );
  }

  /** Changes of meaning since a time are worked off once more, for a consent of that time which has come since. */
  async workOffAgain(names: string[], since: Date): Promise<void> {
    await this.scopes.manager.query(
      `UPDATE scopes SET meaning_worked_off_at = '-infinity'
        WHERE name = ANY ($1) AND meaning_changed_at > $2 AND meaning_worked_off_at IS DISTINCT FROM '-infinity'`,
      [names, since],
    );
  }

  /** Whether any client is registered with the scope. */
  async isHeld(name: string): Promise<boolean> {
    // By hand: clients are of a higher module, whose entity must not be imported here.
    const holders: unknown[] = await this.scopes.manager.query(
      'SELECT 1 FROM clients WHERE $1 = ANY (scopes) LIMIT 1',
      [name],
    );
    return holders.length > 0;
  }
}
