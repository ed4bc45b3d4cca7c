import { snakeCase } from '#platform/database/queries/input-rows.js';
import { Injectable } from '@nestjs/common';
import type { HeldAboutPerson } from '#access/domain/domain-questions.js';
import { DomainQuestions } from '#platform/database/domain/domain-questions.service.js';
import type { Language } from '#platform/language/languages.js';
import type { Page, PageRequest } from '#platform/database/queries/read-page.js';
import type { ShownValue } from './own-words.js';

/** A record is plain data without secrets, digests or anything about other people; its members are those in the file. */
interface PersonalDataSection<T extends object> extends HeldAboutPerson {
  read(userId: string, limit: number, language: Language): Promise<T[]>;
  /** In words for drivers. */
  columns: Record<string, (record: T) => ShownValue>;
}

/** Infers what a record is. */
export const section = <T extends object>(given: PersonalDataSection<T>): HeldAboutPerson => given;

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

/** What all modules hold about a person. */
@Injectable()
export class PersonalData {
  constructor(private readonly questions: DomainQuestions) {}

  private get sections(): HeldAboutPerson[] {
    return this.questions.askAll('user.personal_data').sort((one, other) => one.place - other.place);
  }

  get names(): string[] {
    return this.sections.map(({ name }) => name);
  }

  /** All sections, one after the other, with at most this many records each. */
  async read(userId: string, limit: number, language: Language): Promise<ReadSection[]> {
    const read: ReadSection[] = [];
    for (const { name, title, about, columns, ...section } of this.sections) {
      const found = await section.read(userId, limit + 1, language);
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
