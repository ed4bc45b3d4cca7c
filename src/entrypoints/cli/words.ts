import type { INestApplicationContext } from '@nestjs/common';
import { SERVICE_ACTOR } from '#records/audit/audit.service.js';
import { badRequest } from '#platform/http/problems/problem.js';
import { apiWords } from '#platform/http/problems/violation.js';
import { purposeViolations } from '#access/scopes/purposes/purpose-words.js';
import { PurposesService } from '#access/scopes/purposes/purposes.service.js';
import { ScopesService } from '#access/scopes/scopes.service.js';
import { inOrder, type Translations } from '#access/scopes/translations.js';
import { EventCatalogueService } from '#events/webhooks/event-types/event-catalogue.service.js';
import { EventTypesService } from '#events/webhooks/event-types/event-types.service.js';

/** What a name means, by language. */
type Words = Translations & { en: string };

/** A catalogue whose words drivers and partners read. */
interface Catalogue {
  /** What there is, by name; the service's own event types have words that nobody changes. */
  read(app: INestApplicationContext): Promise<Map<string, Words>>;
  write(app: INestApplicationContext, name: string, words: Words): Promise<unknown>;
}

const wordsOf = ({
  description,
  translations,
}: {
  description: string;
  translations: Translations;
}): Words => ({
  en: description,
  ...inOrder(translations),
});

const CATALOGUES: Record<string, Catalogue> = {
  scopes: {
    read: async (app) =>
      new Map((await app.get(ScopesService).list()).map((scope) => [scope.name, wordsOf(scope)])),
    async write(app, name, { en: description, ...translations }) {
      const { audience } = await app.get(ScopesService).get(name);
      return app.get(ScopesService).put({ name, description, translations, audience }, SERVICE_ACTOR);
    },
  },
  purposes: {
    read: async (app) =>
      new Map(
        (await app.get(PurposesService).list()).map(({ name, words: { en, ...others } }) => [
          name,
          { en, ...inOrder(others) },
        ]),
      ),
    write: (app, name, words) => app.get(PurposesService).put(name, { ...words }, SERVICE_ACTOR),
  },
  event_types: {
    read: async (app) =>
      new Map(
        (await app.get(EventTypesService).list())
          .filter(({ publisher }) => publisher === 'services')
          .map((type) => [type.name, wordsOf(type)]),
      ),
    async write(app, name, { en: description, ...translations }) {
      const { scope, sample, resource } = await app.get(EventTypesService).get(name);
      const type = { name, description, translations, scope, sample, resource };
      return app.get(EventCatalogueService).putType(type, SERVICE_ACTOR);
    },
  },
};

/** All words that can be written as well, by catalogue, name and language. */
export async function exportWords(app: INestApplicationContext): Promise<Record<string, object>> {
  const all: [string, object][] = [];
  for (const [section, { read }] of Object.entries(CATALOGUES)) {
    all.push([section, Object.fromEntries(await read(app))]);
  }
  return Object.fromEntries(all);
}

/** What became of a file of words. */
export interface WordsResult {
  changed: string[];
  unchanged: number;
  refused: { line: number; reason: string }[];
}

/**
 * Takes over the words of a file as `exportWords` writes it. If anything in it is refused, nothing is written; a run that was killed can be
 * repeated. With `dryRun` nothing is written.
 */
export async function importWords(
  app: INestApplicationContext,
  text: string,
  dryRun: boolean,
): Promise<WordsResult> {
  const result: WordsResult = { changed: [], unchanged: 0, refused: [] };
  const writes: (() => Promise<unknown>)[] = [];
  const refuse = (reason: string, ...path: string[]): void =>
    void result.refused.push({ line: lineOf(text, path), reason });
  for (const [section, names] of Object.entries(parsed(text))) {
    const catalogue = Object.hasOwn(CATALOGUES, section) ? CATALOGUES[section]! : undefined;
    if (!catalogue || !isObject(names)) {
      refuse(catalogue ? NO_OBJECT : `must be one of: ${Object.keys(CATALOGUES).join(', ')}`, section);
      continue;
    }
    const known = await catalogue.read(app);
    for (const [name, words] of Object.entries(names)) {
      const before = known.get(name);
      if (!before) {
        refuse(
          `there is nothing with this name in ${section}, or its words cannot be changed`,
          section,
          name,
        );
      } else if (!isObject(words)) refuse(NO_OBJECT, section, name);
      else if (isRight(words, (reason, ...path) => refuse(reason, section, name, ...path))) {
        const { en, ...others } = words;
        const after = { en, ...inOrder(others) };
        if (JSON.stringify(after) === JSON.stringify(before)) result.unchanged++;
        else {
          result.changed.push(`${section} ${name}`);
          writes.push(() => catalogue.write(app, name, after));
        }
      }
    }
  }
  if (result.refused.length > 0) return { ...result, changed: [] };
  if (!dryRun) for (const write of writes) await write();
  return result;
}

const NO_OBJECT = 'must be a JSON object';

/** Whether these are words that a name can have; says what is wrong with which language. */
function isRight(words: object, refuse: (reason: string, ...path: string[]) => void): words is Words {
  const violations = Object.entries(purposeViolations(words));
  for (const [member, [wrong]] of violations) {
    const language = member.slice('words.'.length);
    refuse(`${language}: ${apiWords(wrong!)}`, ...(Object.hasOwn(words, language) ? [language] : []));
  }
  return violations.length === 0;
}

function parsed(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw badRequest(`The file is not JSON: ${(error as Error).message}`);
  }
  if (!isObject(value)) throw badRequest('The file must be a JSON object.');
  return value;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The line of a member, searched from one member of its path to the next: in a text, a quotation mark has a backslash before it. */
function lineOf(text: string, path: string[]): number {
  let at = 0;
  for (const member of path) {
    const found = text.indexOf(JSON.stringify(member), at);
    if (found >= 0) at = found;
  }
  return text.slice(0, at).split('\n').length;
}
