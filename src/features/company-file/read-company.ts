import type { Type } from '@nestjs/common';
import { isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument, type Document, type Node } from 'yaml';
import { badRequest, Problem } from '#platform/http/problems/problem.js';
import { apiWords, apiWordsOf, violation } from '#platform/http/problems/violation.js';
import { nameViolation } from '#platform/http/validation/name-rule.js';
import { RequestValidationPipe } from '#platform/http/validation/validation.pipe.js';
import { withoutDefaults } from './company-defaults.js';
import { MARKS, SECTIONS, type Company, type Entry, type Section, type Shape } from './company-sections.js';

export type Place = readonly (string | number)[];

const ALIASES_MAX = 1_000;
/** What is wrong with one thing is often wrong with many. */
const TOLD_MAX = 50;

/** A company file: its text with the name that errors call it by. What is wrong is gathered, and refused at once. */
export class CompanyDocument {
  private readonly lines = new LineCounter();
  private readonly document: Document;
  private readonly wrong: string[] = [];
  private readonly pipe = new RequestValidationPipe();

  constructor(
    private readonly name: string,
    text: string,
  ) {
    this.document = parseDocument(text, { lineCounter: this.lines, prettyErrors: false });
  }

  /** What the file says, if it is as it must be. Throws a 400 problem that lists what is wrong, each with its line. */
  async read(): Promise<Company> {
    this.refuseCut();
    const { errors, warnings } = this.document;
    for (const { pos, message } of [...errors, ...warnings]) {
      this.wrong.push(`${this.name}:${this.lines.linePos(pos[0]).line}: ${message}`);
    }
    this.refuse();
    const value = this.value();
    if (!isEntry(value)) throw badRequest(`${this.name}: must have at least one section.`);
    const company: Record<string, unknown> = {};
    for (const [name, section] of Object.entries(value)) {
      if (name === MARKS.first || name === MARKS.last) this.checkMark(name, section);
      else if (!Object.hasOwn(SECTIONS, name)) this.note([name], apiWords(violation('unknown_member')));
      else company[name] = await this.section(section, [name], SECTIONS[name as keyof typeof SECTIONS]);
    }
    this.refuse();
    return withoutDefaults(company as Company);
  }

  /** Forgets what was noted, for another try. */
  forget(): void {
    this.wrong.length = 0;
  }

  /** Notes what is wrong at a place. */
  note(place: Place, words: string): void {
    const at = place.map((part) => (typeof part === 'number' ? `[${part}]` : `.${part}`)).join('');
    this.wrong.push(`${this.name}:${this.lineOf(place)}: ${at.slice(1)}: ${words}`);
  }

  /** The same for a refusal of a service; any other error is thrown. */
  noteRefusal(place: Place, error: unknown): void {
    if (!(error instanceof Problem)) throw error;
    const { violations } = error.extras;
    if (!violations) return this.note(place, error.detail);
    for (const [member, texts] of Object.entries(apiWordsOf(violations))) {
      const inside = member.split('.').map((part) => (/^\d+$/.test(part) ? Number(part) : part));
      this.note([...place, ...inside], texts.join('; '));
    }
  }

  get isRefused(): boolean {
    return this.wrong.length > 0;
  }

  /** Throws what was noted. */
  refuse(): void {
    if (!this.isRefused) return;
    const more = this.wrong.length - TOLD_MAX;
    throw badRequest(
      [
        `${this.name} was refused; nothing was changed.`,
        ...this.wrong.slice(0, TOLD_MAX),
        ...(more > 0 ? [`… and ${more} more.`] : []),
      ].join('\n'),
    );
  }

  /** The part of an export that a pipe or a full disk has left may be a whole file to YAML, and `--prune` would believe it. */
  private refuseCut(): void {
    const { contents } = this.document;
    const { first, last } = MARKS;
    if (!isMap(contents) || !contents.has(first) || contents.get(last) === true) return;
    throw badRequest(
      `${this.name} was refused; nothing was changed.\nIt has "${first}: true", as every export, but not its last line, "${last}: true": it was cut off. Export it again.`,
    );
  }

  private checkMark(name: string, value: unknown): void {
    if (value !== true) this.note([name], 'must be true, or be left out');
  }

  private value(): unknown {
    try {
      const value: unknown = this.document.toJS({ maxAliasCount: ALIASES_MAX });
      // As JSON, which is what the rules are about.
      return JSON.parse(
        JSON.stringify(value, (name, member: unknown) => {
          if (typeof member === 'number' && !Number.isFinite(member))
            throw new Error(`${name} must be a finite number`);
          return member;
        }) ?? 'null',
      );
    } catch (error) {
      throw badRequest(`${this.name}: ${(error as Error).message}`);
    }
  }

  private async section(value: unknown, place: Place, section: Section): Promise<unknown> {
    if (section.as === 'one') return this.object(value, place, section);
    if (section.as === 'list') return this.list(value, place, section);
    if (!isEntry(value)) return this.note(place, 'must have members, each with a name');
    const named: Record<string, unknown> = {};
    for (const [name, each] of Object.entries(value)) {
      await this.checkName(name, place, section);
      named[name] = await this.object(each, [...place, name], section);
    }
    return named;
  }

  private async checkName(name: string, place: Place, { names }: Section): Promise<void> {
    if (names && 'dto' in names) {
      if (!(await this.isValid(names.dto, { [names.member]: name }))) {
        this.note([...place, name], apiWords(violation('email')));
      }
      return;
    }
    const found = names && nameViolation(names, name);
    if (found) this.note([...place, name], `the name ${apiWords(found)}`);
  }

  private async list(value: unknown, place: Place, shape: Shape): Promise<unknown> {
    if (!Array.isArray(value)) return this.note(place, 'must be a list');
    const list: unknown[] = [];
    for (const [n, each] of value.entries()) list.push(await this.object(each, [...place, n], shape));
    return list;
  }

  private async object(value: unknown, place: Place, { dto, inner = {} }: Shape): Promise<unknown> {
    if (!isEntry(value)) return this.note(place, 'must have members');
    const own: Entry = {};
    const read: Entry = {};
    for (const [name, member] of Object.entries(value)) {
      if (!Object.hasOwn(inner, name)) own[name] = member;
      else if (inner[name]!.isList) read[name] = await this.list(member, [...place, name], inner[name]!);
      else read[name] = await this.object(member, [...place, name], inner[name]!);
    }
    try {
      const checked = await this.pipe.transform(own, { type: 'body', metatype: dto });
      return { ...(checked as Entry), ...read };
    } catch (error) {
      this.noteRefusal(place, error);
      return undefined;
    }
  }

  private async isValid(dto: Type<object>, value: object): Promise<boolean> {
    return this.pipe.transform(value, { type: 'body', metatype: dto }).then(
      () => true,
      () => false,
    );
  }

  /** The line of a place; of what it would stand in, if it is not there. */
  private lineOf(place: Place): number {
    let node: unknown = this.document.contents;
    let offset = (node as Node | null)?.range?.[0] ?? 0;
    for (const part of place) {
      if (isAlias(node)) node = node.resolve(this.document);
      if (isMap(node)) {
        const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(part));
        if (!pair) break;
        offset = (pair.key as Node).range?.[0] ?? offset;
        node = pair.value;
      } else if (isSeq(node) && node.items[Number(part)]) {
        node = node.items[Number(part)];
        offset = (node as Node).range?.[0] ?? offset;
      } else break;
    }
    return this.lines.linePos(offset).line;
  }
}

const isEntry = (value: unknown): value is Entry =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
