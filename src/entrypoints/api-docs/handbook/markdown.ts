import MarkdownIt, { type Token } from 'markdown-it';
import { groupSamples, renderSample } from './samples.js';

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
