import type { ComponentChildren, VNode } from 'preact';
import type { LayoutProps } from '#platform/web/layout/layout.js';
import { type Check, CHECKLIST_MARK } from '../going-live/going-live-checks.js';
import type { JudgedCheck } from '../going-live/going-live.service.js';
import { pathOf, SHELVES } from '../handbook/catalogue.js';
import type { RenderedPage, Section } from '../handbook/markdown.js';
import { hasPlacesForValues, valuesOf, withValues } from '../handbook/your-values.js';
import { sampleClientOf, type DocsReader } from '../readers/docs-reader.js';
import { GoingLiveChecklist } from './going-live-checklist.js';
import { HandbookSide, HandbookText, IN_ORDER, LAYOUT } from './handbook-frame.js';
import { YourClient } from './your-client.js';

/** What a page shows to a reader with clients. */
export interface ForReader {
  reader: DocsReader;
  /** Of the live client, on the page about going live. */
  checks?: JudgedCheck[];
}

/** A guide or a page about a library, with the way to all others. */
export const handbookPage = (
  address: string,
  { title, summary, html, sections }: RenderedPage,
  checks: readonly Check[],
  forReader?: ForReader,
): LayoutProps => ({
  ...LAYOUT,
  scripts: [...LAYOUT.scripts],
  title,
  description: summary,
  side: <HandbookSide current={address} />,
  children: (
    <HandbookText contents={<Contents of={sections} />}>
      <Text html={html} checks={checks} forReader={forReader}>
        <ContentsMenu of={sections} />
        {hasPlacesForValues(html) && <YourClient of={forReader?.reader} address={address} />}
      </Text>
      <NextPages current={address} />
    </HandbookText>
  ),
});

interface TextProps {
  html: string;
  /** Those of the checklist. */
  checks: readonly Check[];
  forReader?: ForReader;
  /** Between the introduction and the first heading below it. */
  children: ComponentChildren;
}

/** The text, with the values of its reader and, where that is marked, the checklist. */
function Text({ html, checks, forReader, children }: TextProps): VNode {
  const client = sampleClientOf(forReader?.reader);
  const filled = client ? withValues(html, valuesOf(client)) : html;
  const headingAt = filled.indexOf('<h2');
  const [before, after] = filled.slice(headingAt).split(`<p>${CHECKLIST_MARK}</p>`);
  return (
    <>
      <div dangerouslySetInnerHTML={{ __html: filled.slice(0, headingAt) }} />
      {children}
      <div dangerouslySetInnerHTML={{ __html: before! }} />
      {after !== undefined && (
        <>
          <GoingLiveChecklist all={checks} {...forReader} />
          <div dangerouslySetInnerHTML={{ __html: after }} />
        </>
      )}
    </>
  );
}

const headingsIn = (sections: readonly Section[]): Section[] => sections.filter(({ level }) => level === 2);

const Links = ({ of }: { of: Section[] }): VNode => (
  <ul role="list">
    {of.map(({ heading, anchor }) => (
      <li>
        <a href={`#${anchor}`}>{heading}</a>
      </li>
    ))}
  </ul>
);

/** The headings of the page, at its right. */
const Contents = ({ of }: { of: readonly Section[] }): VNode => (
  <nav class="guide-contents side-nav" aria-labelledby="contents">
    <p class="guide-shelf" id="contents">
      On this page
    </p>
    <Links of={headingsIn(of)} />
  </nav>
);

/** The same above the text, for screens that are too narrow for a side bar. */
const ContentsMenu = ({ of }: { of: readonly Section[] }): VNode => (
  <details class="guide-contents-menu">
    <summary>On this page</summary>
    <div class="side-nav">
      <Links of={headingsIn(of)} />
    </div>
  </details>
);

/** The pages before and after this one. */
function NextPages({ current }: { current: string }): VNode {
  const at = IN_ORDER.findIndex(({ href }) => href === current);
  const [previous, next] = [IN_ORDER[at - 1], IN_ORDER[at + 1]];
  return (
    <nav class="guide-pages" aria-label="Previous and next page">
      {previous && (
        <a href={previous.href} rel="prev">
          <small class="under">Previous</small> {previous.label}
        </a>
      )}
      {next && (
        <a href={next.href} rel="next">
          <small class="under">Next</small> {next.label}
        </a>
      )}
    </nav>
  );
}

/** All guides with their first paragraphs. */
export const handbookIndexPage = (pages: ReadonlyMap<string, RenderedPage>): LayoutProps => ({
  ...LAYOUT,
  scripts: [...LAYOUT.scripts],
  title: 'Guides',
  description: 'How to get tokens, read the API and receive webhooks.',
  side: <HandbookSide />,
  children: (
    <HandbookText>
      <h1>Guides</h1>
      <p>
        How to get tokens, read the API and receive webhooks. Every operation, with its parameters and
        answers, is in the <a href="/docs">API reference</a>, where you can also try it out.
      </p>
      {SHELVES.map(({ folder, label, entries }) => (
        <>
          <h2 id={label.toLowerCase().replaceAll(' ', '-')}>{label}</h2>
          <ul class="guide-list plain" role="list">
            {entries.map(({ slug, label: name }) => {
              const address = pathOf(folder, slug);
              return (
                <li>
                  <p>
                    <a href={address}>{name}</a>
                  </p>
                  <p>{pages.get(address)?.summary}</p>
                </li>
              );
            })}
          </ul>
        </>
      ))}
    </HandbookText>
  ),
});
