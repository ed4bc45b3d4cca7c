/**
 * Lighthouse's scores, with its preset for phones, of the pages that people see first. It is no dependency: npx runs it, with the browser that
 * CHROME_PATH names. Beside a running demonstration:
 *
 *   node bench/lighthouse.mjs http://localhost:3000 ./data [--only start,login]
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';

// The last that runs on Node.js 20.
const LIGHTHOUSE = 'lighthouse@12.8.2';
const CATEGORIES = ['performance', 'accessibility', 'best-practices', 'seo'];
const LEAST = 95;

const { values, positionals } = parseArgs({ allowPositionals: true, options: { only: { type: 'string' } } });
const [base, dataDir] = positionals;
if (!dataDir) throw new Error('Specify the address of the demonstration and its DATA_DIR.');
const demo = JSON.parse(await readFile(path.join(dataDir, 'demo-credentials.json'), 'utf8'));

const driver = await loggedIn(demo.driver);
const PAGES = {
  start: { path: '/' },
  login: { path: '/login' },
  consent: {
    path: `/o/authorize/?${new URLSearchParams({
      ...{ response_type: 'code', client_id: demo.partnerClient.id, redirect_uri: `${base}/demo/callback` },
      scope: 'charging_session:read vehicle:read',
    })}`,
    cookie: driver,
  },
  account: { path: '/account', cookie: driver },
  portal: { path: '/portal', cookie: await portalSession() },
  docs: { path: '/docs' },
  guide: { path: '/docs/guides/first-token' },
  search: { path: '/docs/search?q=token' },
};

const row = (...cells) => process.stdout.write(`| ${cells.join(' | ')} |\n`);
row('Page', ...CATEGORIES, 'below 0.9');
row(...Array.from({ length: CATEGORIES.length + 2 }, () => '---'));
for (const [name, page] of Object.entries(PAGES)) {
  if (values.only && !values.only.split(',').includes(name)) continue;
  const { finalDisplayedUrl, categories, audits } = await measured(page);
  if (new URL(finalDisplayedUrl).pathname !== new URL(page.path, base).pathname) {
    throw new Error(`${page.path} leads to ${finalDisplayedUrl}.`);
  }
  const scores = CATEGORIES.map((id) => Math.round(categories[id].score * 100));
  if (scores.some((score) => score < LEAST)) process.exitCode = 1;
  const weighted = new Set(
    CATEGORIES.flatMap((id) => categories[id].auditRefs)
      .filter(({ weight }) => weight > 0)
      .map(({ id }) => id),
  );
  const low = Object.values(audits).filter(
    ({ id, score }) => weighted.has(id) && score !== null && score < 0.9,
  );
  row(name, ...scores, low.map(({ id, displayValue = '' }) => `${id} ${displayValue}`.trim()).join(', '));
}

async function measured({ path: address, cookie }) {
  const child = spawn(
    'npx',
    [
      ...['--yes', LIGHTHOUSE, base + address, '--quiet', '--output=json', '--output-path=stdout'],
      `--only-categories=${CATEGORIES.join(',')}`,
      '--chrome-flags=--headless --no-sandbox --disable-gpu',
      ...(cookie ? [`--extra-headers=${JSON.stringify({ Cookie: cookie })}`] : []),
    ],
    { env: { ...process.env, CHROME_PATH: process.env.CHROME_PATH }, stdio: ['ignore', 'pipe', 'inherit'] },
  );
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (part) => (text += part));
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`Lighthouse ended with ${code} at ${address}.`);
  return JSON.parse(text);
}

/** The cookie of someone who has logged in. */
async function loggedIn({ email, password }) {
  return submitted('/login', { email, password });
}

/** The cookie of a portal session that a one-time link opened. */
async function portalSession() {
  const { id, secret } = demo.partnerClient;
  const token = await fetch(`${base}/o/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`${id}:${secret}`)}` },
    body: new URLSearchParams({ grant_type: 'client_credentials' }),
  });
  const { access_token } = await token.json();
  const link = await fetch(`${base}/webhook_portal`, {
    headers: { authorization: `Bearer ${access_token}` },
  });
  return submitted(new URL((await link.json()).url).pathname, {});
}

/** Submits the form of a page as a browser does, and returns the cookies. */
async function submitted(address, fields) {
  const page = await fetch(base + address);
  const cookies = cookiesOf(page);
  const [, token] = /name="csrf_token" value="([^"]+)"/.exec(await page.text());
  const answer = await fetch(base + address, {
    method: 'POST',
    redirect: 'manual',
    headers: { cookie: cookies.join('; '), origin: base },
    body: new URLSearchParams({ ...fields, csrf_token: token }),
  });
  if (answer.status !== 303) throw new Error(`${address} was answered with ${answer.status}.`);
  return [...cookies, ...cookiesOf(answer)].join('; ');
}

function cookiesOf({ headers }) {
  return headers.getSetCookie().map((cookie) => cookie.split(';')[0]);
}
