import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import MiniSearch from 'minisearch';
import { parse, type HTMLElement } from 'node-html-parser';
import { pathOf, SHELVES } from '#entrypoints/api-docs/handbook/catalogue.js';
import type { Settings } from '#platform/config/settings.js';
import { renderMarkdown } from '#entrypoints/api-docs/handbook/markdown.js';
import { fillIn, placeholdersOf, duration } from '#entrypoints/api-docs/handbook/placeholders.js';
import { AUTHORIZATION_ERROR_KINDS, OAUTH_ERROR_KINDS } from '#platform/http/problems/oauth-error-kinds.js';
import { PROBLEM_KINDS } from '#platform/http/problems/problem-kinds.js';
import { useSharedService } from '../support/test-service.js';
import { listOf } from '../support/list-of.js';

const PAGES = SHELVES.flatMap(({ folder, entries }) => entries.map(({ slug }) => pathOf(folder, slug)));

const service = useSharedService();

interface Opened {
  text: string;
  html: HTMLElement;
  policy: string;
}
const read = async (address: string): Promise<Opened> => {
  const { status, text, headers } = await service.http.get(address, { headers: { accept: 'text/html' } });
  expect([address, status]).toEqual([address, 200]);
  return { text, html: parse(text), policy: headers.get('content-security-policy')! };
};
/** The pages that were opened: none of them changes while these tests run. */
const opened = new Map<string, Promise<Opened>>();
const open = (address: string): Promise<Opened> => {
  const page = opened.get(address) ?? read(address);
  opened.set(address, page);
  return page;
};

describe('The guides', () => {
  it.each(
    listOf(`
    /docs/guides/unknown, /docs/libraries/unknown, /docs/libraries/first-token, /docs/guides/..%2Fsecurity,
    /docs/guides/__proto__, /docs/shelves/first-token
  `),
  )('do not have the page %s', async (address) => {
    const { status, text } = await service.http.get(address, { headers: { accept: 'text/html' } });
    expect([status, text]).toEqual([404, expect.stringContaining('<h1>')]);
  });

  it('do not pass on HTML of a page, or links that run something', () => {
    const { html } = renderMarkdown(
      '# A <b>page</b>\n\n<script>alert(1)</script>\n\n[x](javascript:alert(1))',
    );
    expect(html).not.toMatch(/<script|<b>|href="javascript/);
  });

  it('refuse a placeholder that nothing stands for, and a sample in an unknown language', () => {
    expect(() => fillIn('{{nothing}}', {})).toThrow('{{nothing}}');
    expect(() => renderMarkdown('```cobol\nSTOP RUN.\n```').html).toThrow('cobol');
  });

  it('have a page for each file, and a file for each page', async () => {
    for (const { folder, entries } of SHELVES) {
      const files = await readdir(path.join('src/entrypoints/api-docs', folder));
      expect(files.sort()).toEqual(entries.map(({ slug }) => `${slug}.md`).sort());
    }
  });

  it.each(PAGES)(
    '%s is readable without a script, and everything comes from this service',
    async (address) => {
      const { text, html, policy } = await open(address);
      expect(html.querySelectorAll('h1')).toHaveLength(1);
      expect(text).not.toMatch(/\{\{\w|MEASURED|<[^>]+ style=/);
      expect(policy).not.toMatch(/unsafe|\*|data:|https?:/);
      const loaded = html
        .querySelectorAll('script, link, img')
        .map((each) => each.getAttribute('src') ?? each.getAttribute('href')!);
      expect(loaded.filter((source) => !source.startsWith('/assets/'))).toEqual([]);
      const current = html.querySelectorAll('[aria-current=page]').map((each) => each.getAttribute('href'));
      expect(new Set(current)).toEqual(new Set([address]));
    },
  );

  it('lead to pages and anchors that exist', async () => {
    const anchors = new Map<string, Set<string>>();
    const links: string[] = [];
    for (const address of ['/docs/guides', ...PAGES]) {
      const { html } = await open(address);
      const ids = html.querySelectorAll('[id]').map(({ id }) => id);
      expect([address, ids.length]).toEqual([address, new Set(ids).size]);
      anchors.set(address, new Set(ids));
      for (const link of html.querySelectorAll('a'))
        links.push(new URL(link.getAttribute('href')!, service.url + address).href);
    }
    const broken: string[] = [];
    for (const link of new Set(links)) {
      const { origin, pathname, hash } = new URL(link);
      if (origin !== service.url) continue;
      const known = anchors.get(pathname);
      const isThere = known
        ? hash === '' || known.has(hash.slice(1))
        : (await service.http.get(pathname)).status === 200;
      if (!isThere) broken.push(link);
    }
    expect(broken).toEqual([]);
    // Further sites are named in few places.
    const others = new Set(
      links.map((link) => new URL(link).origin).filter((origin) => origin !== service.url),
    );
    expect([...others]).toEqual(['https://www.standardwebhooks.com']);
  });

  it('have their headings as contents, and the pages before and after, in the order of the list', async () => {
    const list = (await open('/docs/guides')).html.querySelectorAll('.guide-list a');
    expect(list.map((link) => link.getAttribute('href'))).toEqual(PAGES);
    for (const [index, address] of PAGES.entries()) {
      const { html } = await open(address);
      const anchorsOf = (selector: string) =>
        html.querySelectorAll(selector).map((link) => link.getAttribute('href'));
      const headings = anchorsOf('.guide-text h2 > a');
      expect([address, anchorsOf('.guide-contents a')]).toEqual([address, headings]);
      expect(anchorsOf('.guide-contents-menu a')).toEqual(headings);
      expect([...anchorsOf('[rel=prev]'), ...anchorsOf('[rel=next]')]).toEqual(
        [PAGES[index - 1], PAGES[index + 1]].filter(Boolean),
      );
    }
  });

  it('show samples that say the same in several languages together, and each alone without a style sheet', async () => {
    const { html } = await open('/docs/guides/first-token');
    const group = html.querySelector('.samples')!;
    expect(group.querySelectorAll('label').map(({ text }) => text)).toEqual(
      listOf(`
      curl, Node.js, Python, Go
    `),
    );
    expect(group.querySelectorAll('pre').map((pre) => pre.getAttribute('data-file'))).toEqual(
      listOf(`
      token.sh, token.mjs, get_token.py, token.go
    `),
    );
    // Two samples in the same language are two steps.
    expect(renderMarkdown('# A\n\n```sh\na\n```\n\n```sh\nb\n```').html).not.toContain('radio');
  });

  describe('and everything else are searched', () => {
    const search = async (query: string) =>
      (await open(`/docs/search?${new URLSearchParams({ q: query }).toString()}`)).html;
    const hitsOf = (html: HTMLElement) =>
      html.querySelectorAll('.guide-list a').map((link) => link.getAttribute('href'));

    it.each([
      ['', 'Searches guides'],
      ['   ', 'Searches guides'],
      ['zzzzqqqq', 'Nothing was found for “zzzzqqqq”'],
      ['token zzzzqqqq', 'Nothing was found'],
      ['…', 'Nothing was found'],
      ['x'.repeat(5000), 'Nothing was found'],
    ])('for %j without a hit', async (query, says) => {
      const html = await search(query);
      expect(html.querySelector('[role=status]')!.text).toContain(says);
      expect(hitsOf(html)).toEqual([]);
    });

    it('and show what was searched for as text', async () => {
      const { text } = await open(`/docs/search?q=${encodeURIComponent('"><script>alert(1)</script>')}`);
      expect(text).not.toContain('<script>alert');
    });

    it('by the first parts of a word with punctuation in it, and by no word that is longer than all', async () => {
      const beginningsOf = (word: string) => [...word].map((_, n) => word.slice(0, n + 1)).slice(2);
      const parts = ['signature', 'webhook', 'check'].flatMap(beginningsOf);
      expect(parts).toHaveLength(15);
      expect(hitsOf(await search([...parts, 'zzzzqqqq'].join('-')))).toEqual([]);
      expect(hitsOf(await search([...parts, 'the', 'zzzzqqqq'].join('-')))).not.toEqual([]);
      expect(hitsOf(await search(`token ${'x'.repeat(101)}`))).toEqual([]);
    });

    it('with each word once, and not at all for what was asked before', async () => {
      const looked = jest.spyOn(MiniSearch.prototype, 'search');
      const asked = 'Signature signature SIGNATURE-signature webhooks';
      const found = hitsOf(await search(asked));
      expect(found).not.toEqual([]);
      expect(looked.mock.calls.map(([query]) => query)).toEqual(['signature webhooks']);
      expect(hitsOf(await search(asked))).toEqual(found);
      expect(hitsOf(await search('  signature   WEBHOOKS '))).toEqual(found);
      expect(looked).toHaveBeenCalledTimes(1);
    });

    it('without mistakes in words of more than twelve letters', async () => {
      expect(hitsOf(await search('introspectio'))).not.toEqual([]);
      expect(hitsOf(await search('introspektio'))).not.toEqual([]);
      expect(hitsOf(await search('introspektion'))).toEqual([]);
    });

    it.each([
      ['invalid_grant', '/docs/guides/errors#invalid-grant'],
      ['rate-limit-exceeded', '/docs/guides/errors#429-rate-limit-exceeded'],
      ['move to webhooks', '/docs/guides/polling-to-webhooks'],
      // A word that is not finished, and one with a mistake.
      ['openid-clie', '/docs/libraries/openid-client'],
      ['signatrue', '/docs/guides/webhooks#check-the-signature'],
      ['/v2/sandbox/faults', '/docs#tag/sandbox/POST/v2/sandbox/faults'],
      ['charging_session.ended', '/docs#tag/webhooks/webhook/POST/charging-session.ended'],
    ])('for %s, which leads first to %s', async (query, address) => {
      expect(hitsOf(await search(query))[0]).toBe(address);
    });
  });

  it('are led to by the API reference, and list all pages', async () => {
    expect((await open('/docs')).html.querySelector('a[href="/docs/guides"]')).not.toBeNull();
    const { html } = await open('/docs/guides');
    for (const address of PAGES) expect(html.querySelector(`a[href="${address}"]`)).not.toBeNull();
  });

  it('say what this service is configured with', async () => {
    const { accessTokenTtl, rateLimit } = service.settings;
    const { html } = await open('/docs/guides/limits');
    expect(html.text).toMatch(new RegExp(`access token\\s*${duration(accessTokenTtl)}`));
    expect(html.text).toContain(`${rateLimit} in any 60 minutes`);
    const changes = { accessTokenTtl: { value: 7200 }, rateLimit: { value: 1234 } };
    const others = Object.create(service.settings, changes) as Settings;
    const source = await readFile('src/entrypoints/api-docs/guides/limits.md', 'utf8');
    const text = fillIn(source, placeholdersOf(others));
    expect(text).toContain('| access token | 2 hours |');
    expect(text).toContain('1234 in any 60 minutes');
    expect((await open('/docs/guides/first-token')).html.text).toContain(`${service.url}/o/token`);
    expect([duration(36_000), duration(90), duration(86_400), duration(1)]).toEqual(
      listOf(`
      10 hours, 90 seconds, 1 day, 1 second
    `),
    );
  });

  it('list every error with its cause and what to do, as the service itself knows them', async () => {
    const { html } = await open('/docs/guides/errors');
    const text = html.text.replace(/\s+/g, ' ');
    const headings = html.querySelectorAll('h3').map((each) => each.text);
    const codes = [...Object.keys(OAUTH_ERROR_KINDS), ...Object.keys(AUTHORIZATION_ERROR_KINDS)];
    const problems = Object.entries(PROBLEM_KINDS);
    expect(headings).toEqual([...codes, ...problems.map(([slug, { status }]) => `${status} ${slug}`)]);
    for (const kind of [...Object.values(OAUTH_ERROR_KINDS), ...Object.values(AUTHORIZATION_ERROR_KINDS)])
      for (const words of Object.values(kind)) expect(text).toContain(words);
    for (const [, { explanation }] of problems) expect(text).toContain(explanation.slice(0, 40));
  });
});

describe('The image', () => {
  it('gets the pages: the build copies them beside the program', async () => {
    const { compilerOptions } = JSON.parse(await readFile('nest-cli.json', 'utf8')) as {
      compilerOptions: { assets: { include: string }[] };
    };
    expect(compilerOptions.assets.map(({ include }) => include)).toContain('entrypoints/api-docs/**/*.md');
    // Written by the build that ran before the tests.
    for (const address of PAGES)
      expect(existsSync(`dist/src/entrypoints/api-docs/${address.slice('/docs/'.length)}.md`)).toBe(true);
  });
});
