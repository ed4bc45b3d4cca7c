import type { VNode } from 'preact';
import type { LayoutProps } from '../../web/layout/layout.js';
import { Navigation } from '../../web/layout/navigation.js';
import { pathOf, SHELVES } from '../handbook/catalogue.js';
import type { RenderedPage } from '../handbook/markdown.js';

const LAYOUT = { width: 'full', styles: ['/assets/guides.css'], footer: 'for developers' } as const;

/** A guide or a page about a library, with the way to all others. */
export const handbookPage = (address: string, { title, html }: RenderedPage): LayoutProps => ({
  ...LAYOUT,
  title,
  scripts: ['/assets/page.js'],
  children: (
    <div class="guide">
      <div class="guide-nav">
        <Lists current={address} />
      </div>
      {/* Takes the place of the list on a phone. */}
      <details class="guide-menu">
        <summary>All guides</summary>
        <Lists current={address} />
      </details>
      <div class="guide-text" dangerouslySetInnerHTML={{ __html: html }} />
    </div>
  ),
});

/** All guides with their first paragraphs. */
export const handbookIndexPage = (pages: ReadonlyMap<string, RenderedPage>): LayoutProps => ({
  ...LAYOUT,
  title: 'Guides',
  width: 'broad',
  children: (
    <div class="guide-text">
      <h1>Guides</h1>
      <p>
        How to get tokens, read the API and receive webhooks. Every operation, with its parameters and
        answers, is in the <a href="/docs">API reference</a>, where you can also try it out.
      </p>
      {SHELVES.map(({ folder, label, entries }) => (
        <>
          <h2 id={label.toLowerCase().replaceAll(' ', '-')}>{label}</h2>
          <ul class="guide-list" role="list">
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
    </div>
  ),
});

const Lists = ({ current }: { current: string }): VNode => (
  <>
    <p>
      <a href="/docs">API reference</a>
    </p>
    {SHELVES.map(({ folder, label, entries }) => (
      <>
        <p class="guide-shelf">{label}</p>
        <Navigation
          class="guide-links"
          label={label}
          current={current}
          links={entries.map(({ slug, label: name }) => ({
            part: pathOf(folder, slug),
            href: pathOf(folder, slug),
            label: name,
          }))}
        />
      </>
    ))}
  </>
);
