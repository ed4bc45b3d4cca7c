import { parse } from 'node-html-parser';
import { openApiErrors } from '../../support/openapi-judge.js';
import type { Exchange } from './exchanges.js';
import { CANARY } from './odd-text.js';

const NOT_HTTP = 'This is not a well-formed HTTP request.';

/** Returns what is wrong with an answer to any request; an empty list if nothing is. */
export function faultsOf(exchange: Exchange, baseUrl: string): string[] {
  const { method, path, status, headers, text } = exchange;
  return [
    ...(status >= 500 ? [`the status is ${status}`] : []),
    ...exchange.errors.map((line) => `logged: ${line.slice(0, 2000)}`),
    ...(isNoHttp(exchange)
      ? []
      : openApiErrors({ method, path: path.split(/[?#]/, 1)[0]!, status, headers, text })),
    ...headerFaults(exchange, baseUrl),
    ...(status >= 400 ? refusalFaults(exchange) : []),
    ...(text.includes(CANARY) && isHtml(headers) ? ['the page holds markup that was sent'] : []),
    ...(/FST_ERR|node_modules|\n\s+at |QueryFailed|violates|invalid input syntax/.test(text) && !isAsset(path)
      ? ['the answer shows something of the inside']
      : []),
  ];
}

/** Returns what a page holds that none of ours may: inline scripts and styles, permission to be cached, or a form that needs a script that is not there. */
export function pageFaults({ headers, text, path }: Exchange): string[] {
  if (!isHtml(headers)) return [];
  const odd = parse(
    text.replaceAll(/<script src="\/assets\/[\w/.-]+"[^>]*><\/script>/g, ''),
  ).querySelectorAll(
    'script:not([type="application/json"]), style, iframe, [style], [onclick], [onload], [onerror], a[href^="javascript:"]',
  );
  const isCached = !path.startsWith('/docs') && headers.get('cache-control') !== 'no-store';
  const isOnce = /<form [^>]*data-once/.test(text) && !text.includes('src="/assets/page.js"');
  return [
    ...(isOnce ? ['a form is to be sent once, without the script for that'] : []),
    ...odd.map((element) => `the page holds ${element.toString().slice(0, 100)}`),
    ...(isCached ? ['the page may be cached'] : []),
  ];
}

/** Refused before its headers were read: it has bytes that are not allowed in an address, or too many. */
const isUnread = (exchange: Exchange): boolean => exchange.status === 431 || isNoHttp(exchange);

const isNoHttp = ({ method, path, status, text }: Exchange): boolean =>
  status === 400 && !/^[\x21-\x7e]+$/.test(path) && (method === 'HEAD' || text.includes(NOT_HTTP));

const isHtml = (headers: Headers): boolean => /text\/html/.test(headers.get('content-type') ?? '');
const isAsset = (path: string): boolean => path.startsWith('/assets/');

function headerFaults(exchange: Exchange, baseUrl: string): string[] {
  const { headers, sent } = exchange;
  const faults: string[] = [];
  const expect = (name: string, isRight: (value: string) => boolean) => {
    const value = headers.get(name);
    if (value === null || !isRight(value)) faults.push(`the header ${name} is ${JSON.stringify(value)}`);
  };
  // Not trim(): HTTP keeps a no-break space.
  const asked = (sent['x-request-id'] ?? '').replace(/^[ \t]+|[ \t]+$/g, '');
  const isTaken = !isUnread(exchange) && /^(?!cds_)[A-Za-z0-9._-]{1,128}$/.test(asked);
  expect('x-request-id', (value) => (isTaken ? value === asked : /^[0-9A-Z]{26}$/.test(value)));
  expect('x-content-type-options', (value) => value === 'nosniff');
  expect('x-frame-options', (value) => value === 'DENY');
  expect('content-security-policy', (value) => /default-src 'none'/.test(value) && !/unsafe|\*/.test(value));
  const runsOurs = /<script src/.test(exchange.text);
  if (isHtml(headers) && exchange.method !== 'HEAD')
    expect('content-security-policy', (value) => value.includes("script-src 'self'") === runsOurs);
  expect('cache-control', (value) => /no-store|max-age/.test(value));
  const foreign = headers.getSetCookie().filter((line) => !/^cds_\w+=/.test(line));
  if (foreign.length > 0) faults.push(`a cookie may be another application's: ${foreign.join()}`);
  const location = headers.get('location');
  if (location !== null && !isOfOurs(location, baseUrl)) faults.push(`it leads to ${location}`);
  return faults;
}

/** Whether it is a path of this service, a redirect URI that a client of the fixtures registered, or the identity provider's login. */
const isOfOurs = (location: string, baseUrl: string): boolean =>
  /^\/(?![/\\])/.test(location) ||
  location.startsWith(`${baseUrl}/`) ||
  location.startsWith('https://app.example/callback?') ||
  location.startsWith('http://127.0.0.1/cb?') ||
  location.startsWith('com.example.app:/cb?') ||
  /^http:\/\/127\.0\.0\.1:\d+\/auth\?redirect_uri=/.test(location);

/** A refusal must be a page, a problem or, on the OAuth endpoints, an error of RFC 6749 §5.2. */
function refusalFaults({ method, path, status, headers, text }: Exchange): string[] {
  if (method === 'HEAD') return [];
  const type = (headers.get('content-type') ?? '').split(';')[0];
  if (type === 'text/html') return /<h1/.test(text) ? [] : ['the page has no heading'];
  const body = jsonIn(text);
  if (type === 'application/json' && /^\/(o|login\/backchannel_logout)\//i.test(path))
    return typeof body?.error === 'string' ? [] : ['the OAuth error has no name'];
  if (type !== 'application/problem+json')
    return [`a refusal of the media type ${type}: ${text.slice(0, 200)}`];
  const names = Object.keys(body ?? {})
    .sort()
    .join();
  const bare = names === 'detail,status,title';
  const faults = body?.status === status ? [] : ['the problem does not say its status'];
  return (status === 401 || status === 403) && !bare ? [...faults, `a ${status} holds ${names}`] : faults;
}

function jsonIn(text: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}
