import { Injectable } from '@nestjs/common';
import { Listener } from '#platform/database/connections/listener.service.js';
import { outsideTransaction } from '#platform/database/queries/transaction-around.js';
import { SCOPE_DELETED, ScopesRepository } from './scopes.repository.js';

/** The numbers that stand for scopes in tokens. A scope keeps its number as long as it exists, so cached numbers stay valid. */
@Injectable()
export class ScopeNumbersService {
  private numbers = new Map<string, number>();
  private names = new Map<number, string>();
  private reading: Promise<void> | undefined;
  private deletions = 0;

  constructor(
    private readonly repository: ScopesRepository,
    listener: Listener,
  ) {
    const forget = () => {
      this.deletions++;
      this.numbers = new Map();
      this.names = new Map();
    };
    listener.listen(SCOPE_DELETED, { onConnected: forget, onAnnouncement: forget });
  }

  /** Reads the numbers of the named scopes unless they are cached. Deleted scopes have none. */
  async learn(names: readonly string[]): Promise<void> {
    if (!names.every((name) => this.numbers.has(name))) await this.read();
  }

  /** The numbers of the named scopes, in the same order. */
  async of(names: readonly string[]): Promise<number[]> {
    await this.learn(names);
    return names.map((name) => {
      const number = this.numbers.get(name);
      if (number === undefined) throw new Error('a scope that is not in the catalogue');
      return number;
    });
  }

  /** The scopes with these numbers; deleted scopes are omitted. */
  async namesOf(numbers: readonly number[]): Promise<string[]> {
    const known = this.knownNamesOf(numbers);
    if (known) return known;
    await this.read();
    return numbers.flatMap((number) => this.names.get(number) ?? []);
  }

  /** The same from memory; undefined if one of them is not cached. */
  knownNamesOf(numbers: readonly number[]): string[] | undefined {
    const names: string[] = [];
    for (const number of numbers) {
      const name = this.names.get(number);
      if (name === undefined) return undefined;
      names.push(name);
    }
    return names;
  }

  private read(): Promise<void> {
    this.reading ??= outsideTransaction(() => this.readAll()).finally(() => {
      this.reading = undefined;
    });
    return this.reading;
  }

  private async readAll(): Promise<void> {
    const { deletions } = this;
    const scopes = await this.repository.numbers();
    // What was read may be of before a deletion.
    if (deletions !== this.deletions) return this.readAll();
    this.numbers = new Map(scopes.map(({ name, number }) => [name, number]));
    this.names = new Map(scopes.map(({ name, number }) => [number, name]));
  }
}
