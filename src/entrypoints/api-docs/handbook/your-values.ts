import type { MemberClient } from '#events/partners/members/member.js';

/** The variables that a reader puts values into, and what stands in the samples until then. */
const PLACEHOLDERS = {
  CLIENT_ID: 'clnt…',
  CLIENT_SECRET: 'cds_cs_…',
  REDIRECT_URI: 'https://…',
} as const;

type Variable = keyof typeof PLACEHOLDERS;
type YourValues = Partial<Record<Variable, string>>;

/** Sets these variables of a shell, for all programs that are started in it. */
export const exportOf = (...variables: Variable[]): string =>
  [
    '```sh',
    ...variables.map((name) =>
      name === 'REDIRECT_URI'
        ? `export ${name}='${PLACEHOLDERS[name]}'`
        : `export ${name}=${PLACEHOLDERS[name]}`,
    ),
    '```',
  ].join('\n');

// With what the highlighting puts between the name and the value.
const SET_HERE =
  /(CLIENT_ID|CLIENT_SECRET|REDIRECT_URI)(=(?:<span[^>]*>)?(?:&#x27;)?)(clnt…|cds_cs_…|https:\/\/…)/g;
const MARKED = /(<span class="yours" data-variable="(\w+)">)[^<]*/g;

/** Marks the places of a highlighted sample where values of the reader belong. */
export const withMarks = (html: string): string =>
  html.replace(
    SET_HERE,
    (_match, name: string, between: string, value: string) =>
      `${name}${between}<span class="yours" data-variable="${name}">${value}</span>`,
  );

/** A page with the values of its reader. Those that are not known keep what stands for them. */
export const withValues = (html: string, values: YourValues): string =>
  html.replace(MARKED, (match, open: string, name: Variable) =>
    values[name] === undefined ? match : open + asHtml(values[name]),
  );

// A shell reads the value inside single quotes, or as one word without characters that mean something to it.
const asHtml = (value: string): string =>
  value.replaceAll("'", "'\\''").replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** What is known of a client: its id and first redirect URI, of a live client no more than where that is. */
export function valuesOf({ id, environment, redirectUris: [uri] }: MemberClient): YourValues {
  const isWhole = uri === undefined || environment === 'sandbox';
  return { CLIENT_ID: id, REDIRECT_URI: isWhole ? uri : withoutPath(new URL(uri)) };
}

const withoutPath = ({ protocol, host }: URL): string =>
  host === '' ? `${protocol}/…` : `${protocol}//${host}/…`;

/** Whether a page has samples with values of its reader. */
export const hasPlacesForValues = (html: string): boolean => html.includes('data-variable="');
