import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { IntlMessageFormat } from 'intl-messageformat';
import { CATALOG_PARTS } from '#platform/language/catalog.js';
import { LANGUAGES, type Language } from '#platform/language/languages.js';
import { foundMessages } from '../support/messages.js';
import { listOf } from '../support/list-of.js';

type Nodes = ReturnType<IntlMessageFormat['getAst']>;

// As @formatjs/icu-messageformat-parser numbers them.
const [LITERAL, SELECT, PLURAL, POUND, TAG] = [0, 5, 6, 7, 8];

/** What a message is filled in with: its values, the choices that it knows, and its tags. */
function slotsOf(nodes: Nodes): string[] {
  const slots = nodes.flatMap((node): string[] => {
    const type: number = node.type;
    if (type === LITERAL || type === POUND) return [];
    const { value, options, children } = node as unknown as {
      value: string;
      options: Record<string, { value: Nodes }>;
      children: Nodes;
    };
    if (type === TAG) return [`<${value}>`, ...slotsOf(children)];
    if (type !== SELECT && type !== PLURAL) return [`${type} ${value}`];
    // Each language has plural forms of its own.
    const choices = type === SELECT ? Object.keys(options).sort().join(' ') : '';
    return [`${type} ${value} ${choices}`, ...Object.values(options).flatMap((each) => slotsOf(each.value))];
  });
  return [...new Set(slots)].sort();
}

const read = new Map<string, string[]>();
/** Each English message is read once, although every language is compared with it. */
function slotsIn(message: string, language: Language): string[] {
  const key = `${language} ${message}`;
  const found = read.get(key) ?? slotsOf(new IntlMessageFormat(message, language).getAst());
  read.set(key, found);
  return found;
}

/** What is the same in a language as in English. */
const SAME: Record<Language, string[]> = {
  en: [],
  de: listOf(`
    Browser, Code, ID, Name, Organisation, Passkey, Passkeys, Sandbox, Support, Support: {address}, Text
  `),
  fr: listOf(`
    Application, Applications, Code, Copies, Invitation, Notifications, Organisation, Organisations,
    Sandbox, Service, Sessions
  `),
  nl: listOf('Browser, Code, Conflict, ID, Model, Operator, Privacy, Sandbox, Support, Support: {address}'),
  es: ['ID', 'No', 'Sandbox'],
};

const TRANSLATED = LANGUAGES.filter((language) => language !== 'en');

/** The folders of the features that say something to drivers. */
const OF_FEATURES = readdirSync('src/features')
  .map((feature) => `src/features/${feature}/catalogs/`)
  .filter((folder) => existsSync(folder));
/** The beginnings of the files: that of each part of the service and of each feature. */
const BEGINNINGS = [
  ...CATALOG_PARTS.map((part) => `src/platform/language/catalogs/${part}.`),
  ...OF_FEATURES,
];

/** What stands in the catalogues of a language, part by part. */
const entriesOf = (language: Language): { part: string; message: string; translation: string }[] =>
  BEGINNINGS.flatMap((part) =>
    Object.entries(JSON.parse(readFileSync(`${part}${language}.json`, 'utf8')) as Record<string, string>).map(
      ([message, translation]) => ({ part, message, translation }),
    ),
  );

const { messages, notConstant } = foundMessages();

describe('Messages', () => {
  const known = new Set(messages.map(({ message }) => message));

  it('are found where they stand', () => {
    expect(messages).toContainEqual({
      message: 'Forgot your password?',
      place: expect.stringMatching(/^src\/entrypoints\/sign-in\/sign-in\.page\.tsx:\d+$/),
      isLabel: true,
    });
    expect(messages).toContainEqual({
      message: 'to continue to <name>{clientName}</name>',
      place: expect.stringMatching(/^src\/entrypoints\/sign-in\/sign-in\.page\.tsx:\d+$/),
      isLabel: false,
    });
    expect(known).toContain('The email or password is incorrect. Check both and try again.');
  });

  it('are constants: names and numbers go in as values', () => expect(notConstant).toEqual([]));

  it('can be read in English', () => {
    const wrong = [...known].filter((message) => {
      try {
        slotsIn(message, 'en');
        return message.includes("'");
      } catch {
        return true;
      }
    });
    expect(wrong).toEqual([]);
  });
});

describe.each(TRANSLATED)('The catalogues in %s', (language) => {
  const entries = entriesOf(language);
  const translations = new Map(entries.map(({ message, translation }) => [message, translation]));

  it('have every message', () => {
    const missing = messages.filter(({ message }) => !translations.has(message));
    expect(missing.map(({ message, place }) => `${place} ${message}`)).toEqual([]);
  });

  it('leave nothing in English but what is the same in both', () => {
    const same = entries.filter(({ message, translation }) => translation === message);
    expect([...new Set(same.map(({ message }) => message))].sort()).toEqual(SAME[language]);
  });

  it('have no message that nothing says', () => {
    const known = new Set(messages.map(({ message }) => message));
    expect(entries.filter(({ message }) => !known.has(message))).toEqual([]);
  });

  it('say a message in one way, whatever part it is in', () => {
    const contradicting = entries.filter(
      ({ message, translation }) => translations.get(message) !== translation,
    );
    expect(contradicting).toEqual([]);
  });

  it('have the same values, choices and tags as the English messages', () => {
    const shapes = entries.map(({ message, translation }) => ({
      translation,
      slots: slotsIn(translation, language),
      english: slotsIn(message, 'en'),
    }));
    expect(shapes.filter(({ slots, english }) => slots.join() !== english.join())).toEqual([]);
  });

  it('have typographic apostrophes, because the straight one means something else in a message', () => {
    expect(entries.filter(({ translation }) => translation.includes("'"))).toEqual([]);
  });

  it('have text in every translation, without spaces around it', () => {
    expect(
      entries.filter(({ translation }) => translation === '' || translation !== translation.trim()),
    ).toEqual([]);
  });

  it('have one kind of space that does not break, the narrow one', () => {
    expect(entries.filter(({ translation }) => translation.includes('\u00a0'))).toEqual([]);
  });

  it('say “u hebt” in Dutch, in one form', () => {
    const other = /\b(u( \p{L}+){0,2} heeft|heeft u)\b/iu;
    expect(
      entries.filter(
        ({ translation }) =>
          language === 'nl' && other.test(translation) && !/degene die u heeft/.test(translation),
      ),
    ).toEqual([]);
  });

  it('do not say of an application what a reader takes for themselves', () => {
    // “Ihre”, “Su” at the beginning of a sentence is “your” as well; in Dutch an application is no woman.
    const takenForReader: Partial<Record<Language, RegExp>> = {
      de: /(^|[.:!?] )Ihr(e[nmrs]?)? /,
      es: /(^|[.:!?] )Sus? /,
      nl: /(^|[.:!?] )Ze |^\S+ ze /,
    };
    const ofApplication = entries.filter(
      ({ message }) => /(^|[.:!?“] ?)Its?\b/.test(message) && !message.startsWith('Your '),
    );
    expect(ofApplication.length).toBeGreaterThan(20);
    const wrong = takenForReader[language];
    expect(ofApplication.filter(({ translation }) => wrong?.test(translation))).toEqual([]);
  });

  it('say one thing in one way', () => {
    const another: Partial<Record<Language, RegExp>> = {
      // “Betreiber” for the company and who acts for it, “Administratorrolle” for what a person has.
      de: /\bOperator/,
      fr: /\b(le|un|du|au) sandbox\b/i,
      nl: /\b(zij|haar)\b/i,
    };
    expect(entries.filter(({ translation }) => another[language]?.test(translation))).toEqual([]);
  });

  it('keep what buttons and links say short', () => {
    const labels = new Set(messages.filter(({ isLabel }) => isLabel).map(({ message }) => message));
    expect(labels.size).toBeGreaterThan(10);
    const tooLong = entries.filter(
      ({ message, translation }) => labels.has(message) && translation.length > 2 * message.length + 12,
    );
    expect(tooLong).toEqual([]);
  });
});
