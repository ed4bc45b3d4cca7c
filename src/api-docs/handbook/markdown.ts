import MarkdownIt, { type Token } from 'markdown-it';
import { highlighted } from './highlighting.js';

/** A page written in Markdown, rendered. */
export interface RenderedPage {
  /** Its first heading. */
  title: string;
  /** Its first paragraph, as text. */
  summary: string;
  /** Rendered at the first use. */
  readonly html: string;
}

// Nothing in a page is passed on as HTML.
const markdown = new MarkdownIt({ html: false });
const { rules } = markdown.renderer;

/** A sample: what comes after its language in the first line, such as `file=app.mjs`, names the file that a reader makes of it. */
rules.fence = (tokens, index) => {
  const { info, content } = tokens[index]!;
  const [language = 'text', file] = info.trim().split(' file=');
  const { escapeHtml } = markdown.utils;
  const name = file === undefined ? '' : `<p class="sample-name"><code>${escapeHtml(file)}</code></p>`;
  const dataFile = file === undefined ? '' : ` data-file="${escapeHtml(file)}"`;
  return `${name}<pre class="sample" data-language="${escapeHtml(language)}" data-copy${dataFile}><code>${highlighted(content, language) ?? escapeHtml(content)}</code></pre>\n`;
};
// On a phone every row becomes a block; the roles keep it a table for screen readers.
rules.table_open = () => '<table class="list" role="table">\n';
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
  anchorHeadings(tokens);
  const texts = tokens.flatMap((token, index) =>
    token.type === 'inline' ? [{ in: tokens[index - 1]!.type, text: textOf(token) }] : [],
  );
  const first = (type: string): string => texts.find((each) => each.in === type)?.text ?? '';
  let html: string | undefined;
  return {
    title: first('heading_open'),
    summary: first('paragraph_open'),
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

function anchorHeadings(tokens: Token[]): void {
  const taken = new Map<string, number>();
  tokens.forEach((token, index) => {
    if (token.type !== 'heading_open' || token.tag === 'h1') return;
    const inline = tokens[index + 1]!;
    const id = anchorOf(textOf(inline), taken);
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
