import { snakeCase } from '#platform/database/queries/input-rows.js';
import { Injectable } from '@nestjs/common';
import type { Language } from '#platform/language/languages.js';
import type { Page, PageRequest } from '#platform/database/queries/read-page.js';
import type { ShownValue } from './own-words.js';

/**
 * What one module holds about a person (contract §13). A record is plain data without secrets, digests or anything about other
 * people; its members are those in the file.
 */
export interface PersonalDataSection<T extends object> {
  /** The member of the file; unique. */
  name: string;
  /**
   * Its position among the sections: 10 to 19 the account, 20 to 39 applications and data, 40 to 59 logins, 60 to 89 records, 90
   * to 99 partners and operators.
   */
  place: number;
  title: string;
  /** A sentence for the person. */
  about: string;
  /**
   * Up to `limit` records, the newest if there can be many. Our own texts are in the language of the reader.
   */
  read(userId: string, limit: number, language: Language): Promise<T[]>;
  /** What the page shows of each record, by its heading, in words for drivers. */
  columns: Record<string, (record: T) => ShownValue>;
}

/** Infers what a record is. */
export const section = <T extends object>(given: PersonalDataSection<T>): PersonalDataSection<T> => given;

type AnySection = PersonalDataSection<never>;

/** A section with its records. */
export interface ReadSection {
  name: string;
  title: string;
  about: string;
  records: object[];
  /** False: there are more, and older, than were read. */
  isComplete: boolean;
  columns: Record<string, (record: object) => ShownValue>;
}

/** The port through which every module says what it holds about a person. */
@Injectable()
export class PersonalData {
  private readonly sections: AnySection[] = [];

  /** Called once for each section. */
  add<T extends object>(section: PersonalDataSection<T>): void {
    this.sections.push(section as unknown as AnySection);
    this.sections.sort((one, other) => one.place - other.place);
  }

  get names(): string[] {
    return this.sections.map(({ name }) => name);
  }

  /** All sections, one after the other, with at most this many records each. */
  async read(userId: string, limit: number, language: Language): Promise<ReadSection[]> {
    const read: ReadSection[] = [];
    for (const { name, title, about, columns, ...section } of this.sections) {
      const found: object[] = await section.read(userId, limit + 1, language);
      const records = found.slice(0, limit);
      const isComplete = found.length <= limit;
      read.push({ name, title, about, records, isComplete, columns: columns as ReadSection['columns'] });
    }
    return read;
  }
}

const PAGE_SIZE = 100;

/** The first items of a list that is read by pages, as `readPage` reads them. */
export async function readUpTo<T>(
  limit: number,
  idOf: (item: T) => string,
  read: (page: PageRequest) => Promise<Page<T>>,
): Promise<T[]> {
  const items: T[] = [];
  for (let after: string | undefined; ;) {
    const page = await read({ size: Math.min(PAGE_SIZE, limit - items.length), after });
    items.push(...page.items);
    if (!page.hasNext || items.length >= limit) return items;
    after = idOf(items.at(-1)!);
  }
}

type Snake<S extends string> = S extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${Snake<Rest>}`
  : S;

/** These members of a row, with the names that the file gives them. */
export const recordOf = <T extends object, K extends keyof T & string>(
  row: T,
  ...members: K[]
): { [M in K as Snake<M>]: T[M] } =>
  Object.fromEntries(members.map((member) => [snakeCase(member), row[member]])) as never;
