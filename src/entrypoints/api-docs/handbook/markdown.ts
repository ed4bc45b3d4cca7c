import MarkdownIt, { type Token } from 'markdown-it';
import highlighter from 'highlight.js/lib/core';
import apache from 'highlight.js/lib/languages/apache';
import bash from 'highlight.js/lib/languages/bash';
import go from 'highlight.js/lib/languages/go';
import java from 'highlight.js/lib/languages/java';
import javascript from 'highlight.js/lib/languages/javascript';
import json from 'highlight.js/lib/languages/json';
import php from 'highlight.js/lib/languages/php';
import python from 'highlight.js/lib/languages/python';
import ruby from 'highlight.js/lib/languages/ruby';
import xml from 'highlight.js/lib/languages/xml';
import yaml from 'highlight.js/lib/languages/yaml';
import { withMarks } from './your-values.js';

// Not `http`: of the body it would try every language.
const LANGUAGES = { apache, go, html: xml, java, js: javascript, json, php, python, ruby, sh: bash, yaml };

for (const [name, language] of Object.entries(LANGUAGES)) highlighter.registerLanguage(name, language);

/** The code as HTML, with classes for its parts; undefined for `text`, which has none. Throws for a language that is not in the list. */
function highlighted(code: string, language: string): string | undefined {
  if (language === 'text') return undefined;
  if (!Object.hasOwn(LANGUAGES, language)) throw new Error(`Samples in ${language} cannot be shown.`);
  return highlighter.highlight(code, { language, ignoreIllegals: true }).value;
}

/** The languages in which a sample may be shown side by side, as people call them. */
const TABS: Record<string, string> = { sh: 'curl', js: 'Node.js', python: 'Python', go: 'Go' };

interface Sample {
  language: string;
  /** The file that a reader makes of it. */
  file?: string;
}

/** The place of a sample among those that show the same in other languages. */
interface Tab {
  group: number;
  isFirst: boolean;
  isLast: boolean;
  languages: string[];
}

/** What comes after the language in the first line, such as `file=app.mjs`, names the file. */
function sampleOf({ info }: Token): Sample {
  const [language = '', file] = info.trim().split(' file=');
  return { language: language || 'text', file };
}

/** Samples that follow each other directly, each in another language, become tabs. */
function groupSamples(tokens: Token[]): void {
  let group: Token[] = [];
  let count = 0;
  const close = (): void => {
    const languages = group.map((token) => sampleOf(token).language);
    if (group.length > 1) {
      count += 1;
      group.forEach((token, index) => {
        const tab: Tab = {
          ...{ group: count, languages },
          ...{ isFirst: index === 0, isLast: index === group.length - 1 },
        };
        token.meta = { tab };
      });
    }
    group = [];
  };
  for (const token of tokens) {
    const language = token.type === 'fence' ? sampleOf(token).language : undefined;
    const isTab = language !== undefined && language in TABS;
    if (!isTab || group.some((each) => sampleOf(each).language === language)) close();
    if (isTab) group.push(token);
  }
  close();
}

/** A sample with its name and, for the first of several languages, the choice of one. Without a style sheet all are shown. */
function renderSample(token: Token, escapeHtml: (text: string) => string): string {
  const { language, file } = sampleOf(token);
  const tab = (token.meta as { tab?: Tab } | null)?.tab;
  const attributes = `data-language="${escapeHtml(language)}" data-copy${file === undefined ? '' : ` data-file="${escapeHtml(file)}"`}`;
  const code = withMarks(highlighted(token.content, language) ?? escapeHtml(token.content));
  const name = file === undefined ? '' : `<code>${escapeHtml(file)}</code>`;
  const sample = `<div class="sample-box"${tab ? ` data-tab="${language}"` : ''}><p class="sample-name">${name}</p><pre class="sample" ${attributes}><code>${code}</code></pre></div>\n`;
  if (!tab) return sample;
  return `${tab.isFirst ? `<div class="samples">${choice(tab)}` : ''}${sample}${tab.isLast ? '</div>\n' : ''}`;
}

/** Radio buttons: the style sheet shows the sample of the chosen one. */
const choice = ({ group, languages }: Tab): string =>
  `<fieldset class="sample-tabs"><legend class="visually-hidden">Language of sample ${group}</legend>${languages
    .map((language, index) => {
      const id = `sample-${group}-${language}`;
      return `<input type="radio" class="visually-hidden" name="sample-${group}" id="${id}" value="${language}" autocomplete="off"${index === 0 ? ' checked' : ''}><label for="${id}">${TABS[language]}</label>`;
    })
    .join('')}</fieldset>`;

/** A heading of a page with the text below it, up to the next heading. */
export interface Section {
  /** The page itself, above its second heading, is of level 1. */
  level: number;
  heading: string;
  /** Without one for the page itself. */
  anchor?: string;
  text: string;
}

/** A page written in Markdown, rendered. */
export interface RenderedPage {
  /** Its first heading. */
  title: string;
  /** Its first paragraph, as text. */
  summary: string;
  /** What is below its headings, for the contents and the search. */
  sections: readonly Section[];
  /** Rendered at the first use. */
  readonly html: string;
}

// Nothing in a page is passed on as HTML.
const markdown = new MarkdownIt({ html: false });
const { rules } = markdown.renderer;

rules.fence = (tokens, index) => renderSample(tokens[index]!, markdown.utils.escapeHtml);
// On a phone every row becomes a block; the roles keep it a table for screen readers.
rules.table_open = () => '<table role="table">\n';
rules.thead_open = () => '<thead role="rowgroup">\n';
rules.tbody_open = () => '<tbody role="rowgroup">\n';
rules.tr_open = () => '<tr role="row">';
rules.th_open = () => '<th scope="col" role="columnheader">';
rules.td_open = (tokens, index) =>
  `<td role="cell" data-head="${markdown.utils.escapeHtml(String(tokens[index]!.meta?.head))}"><div class="cell">`;
rules.td_close = () => '</div></td>';

/** Reads a page. Its headings below the first get anchors, and are links to themselves. */
export function renderMarkdown(source: string): RenderedPage {
  const tokens = markdown.parse(source, {});
  nameCells(tokens);
  groupSamples(tokens);
  const sections = sectionsOf(tokens);
  anchorHeadings(tokens, sections);
  const texts = tokens.flatMap((token, index) =>
    token.type === 'inline' ? [{ in: tokens[index - 1]!.type, text: textOf(token) }] : [],
  );
  const first = (type: string): string => texts.find((each) => each.in === type)?.text ?? '';
  let html: string | undefined;
  return {
    title: first('heading_open'),
    summary: first('paragraph_open'),
    sections,
    get html() {
      return (html ??= markdown.renderer.render(tokens, markdown.options, {}));
    },
  };
}

const textOf = (token: Token): string =>
  (token.children ?? []).map(({ type, content }) => (type === 'softbreak' ? ' ' : content)).join('');

/** Tells each cell of a table the head of its column. */
function nameCells(tokens: Token[]): void {
  let heads: string[] = [];
  let column = 0;
  tokens.forEach((token, index) => {
    if (token.type === 'table_open') heads = [];
    if (token.type === 'tr_open') column = 0;
    if (token.type === 'th_open') heads.push(textOf(tokens[index + 1]!));
    if (token.type === 'td_open') token.meta = { head: heads[column++] };
  });
}

/** The headings with their anchors and the text below each. */
function sectionsOf(tokens: Token[]): Section[] {
  const taken = new Map<string, number>();
  const sections: (Section & { parts: string[] })[] = [];
  tokens.forEach((token, index) => {
    if (token.type === 'heading_open') {
      const heading = textOf(tokens[index + 1]!);
      const level = Number(token.tag.slice(1));
      const anchor = level === 1 ? undefined : anchorOf(heading, taken);
      sections.push({ level, heading, anchor, text: '', parts: [] });
    } else if (token.type === 'inline' && tokens[index - 1]!.type !== 'heading_open') {
      sections.at(-1)?.parts.push(textOf(token));
    }
  });
  return sections.map(({ parts, ...section }) => ({ ...section, text: parts.join(' ') }));
}

function anchorHeadings(tokens: Token[], sections: Section[]): void {
  const left = [...sections];
  tokens.forEach((token, index) => {
    if (token.type !== 'heading_open') return;
    const id = left.shift()!.anchor;
    if (id === undefined) return;
    const inline = tokens[index + 1]!;
    token.attrSet('id', id);
    const open = new MarkdownIt.Token('link_open', 'a', 1);
    open.attrSet('href', `#${id}`);
    const close = new MarkdownIt.Token('link_close', 'a', -1);
    inline.children = [open, ...(inline.children ?? []), close];
  });
}

/** The words of a heading with hyphens between them; those that occur again are numbered. */
function anchorOf(text: string, taken: Map<string, number>): string {
  const words = text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-|-$/g, '');
  const count = (taken.get(words) ?? 0) + 1;
  taken.set(words, count);
  return count === 1 ? words : `${words}-${count}`;
}
