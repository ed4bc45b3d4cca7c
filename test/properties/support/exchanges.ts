import { Agent, request as httpRequest } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { inParts, SMALL_IMAGE } from '../../support/in-parts.js';
import type { TestService } from '../../support/test-service.js';
import type { BodyDraft, Draft, FormDraft } from './draft.js';
import { filledIn, type Live } from './live.js';
import { filledValues, readPage, type ShownForm } from './shown-forms.js';
import { World } from './world.js';

/** A request as it was sent, and its answer. */
export interface Exchange {
  method: string;
  path: string;
  sent: Record<string, string>;
  body?: Buffer;
  status: number;
  headers: Headers;
  text: string;
  /** Log lines at level error or above. */
  errors: string[];
}

const FORM = 'application/x-www-form-urlencoded';
let addresses = 0;

/** Sends drafts to a service, each with fixtures that no earlier request can have destroyed. */
export class Exchanges {
  private readonly agent = new Agent({ keepAlive: true, maxSockets: 4 });
  private world: World;
  /** Whether a request that was accepted may have changed the fixtures. */
  private isUsed = false;
  private opened: Map<string, Promise<ShownForm[]>> | undefined;

  /** `hookUrl` is the URL that receives the webhooks of the fixtures. */
  constructor(
    readonly service: TestService,
    private readonly hookUrl: string,
  ) {
    this.world = new World(service, hookUrl);
  }

  stop(): void {
    this.agent.destroy();
  }

  /** Replaces the fixtures with new ones that no request has touched. */
  renew(): void {
    this.world = new World(this.service, this.hookUrl);
    this.isUsed = false;
  }

  /** Runs what changes nothing: each page is opened once for all of its forms. */
  async openingOnce(work: () => Promise<void>): Promise<void> {
    this.opened = new Map();
    try {
      await work();
    } finally {
      this.opened = undefined;
    }
  }

  async send(draft: Draft): Promise<Exchange> {
    if (this.isUsed) this.renew();
    const exchange = await this.sendOnce(draft);
    const { status, text } = exchange;
    // Later requests must not see what this one may have changed, nor count its failures.
    const isRead = draft.method === 'GET' || draft.method === 'HEAD';
    if (!isRead && !this.opened && (status < 400 || status === 429 || /invalid_grant/.test(text)))
      this.renew();
    return exchange;
  }

  /**
   * Sends a valid request with the fixtures that the valid one before it has left, because new ones cost more than the request; where it
   * does not get past the first checks with them, what counts is the answer that it gets with new ones.
   */
  async sendValid(draft: Draft): Promise<Exchange> {
    // What it needs may no longer be made for what has been deleted.
    const first = this.isUsed ? await this.sendOnce(draft).catch(() => undefined) : undefined;
    if (first && isAccepted(first)) return first;
    this.renew();
    this.isUsed = true;
    return this.sendOnce(draft);
  }

  private async sendOnce(draft: Draft): Promise<Exchange> {
    const headers: Record<string, string> = { 'x-forwarded-for': newAddress() };
    for (const name of draft.needs ?? []) await this.world.value(name);
    for (const [name, value] of Object.entries(draft.headers)) headers[name] = await this.fill(value);
    const query = await this.fill(draft.query);
    const path = (await this.fill(draft.path)) + (query === '' ? '' : `?${query}`);
    const body = draft.body && (await this.bytesOf(draft.body, headers));
    this.service.log.length = 0;
    const answer = await this.transmit(draft.method, path, headers, body);
    const errors = this.service.log.filter((line) => /^\{"level":"(error|fatal)"/.test(line));
    return { method: draft.method, path, sent: headers, body, errors, ...answer };
  }

  /** The same once more, with the cookies from before it, as a second click sends it. */
  async sendAgain({ method, path, sent, body }: Exchange): Promise<Exchange> {
    this.service.log.length = 0;
    return { method, path, sent, body, errors: [], ...(await this.transmit(method, path, sent, body)) };
  }

  /** Where this answer leads its browser, after all redirects within the service. */
  async follow(exchange: Exchange): Promise<Exchange> {
    const cookies = new Map(cookiesIn(exchange.sent.cookie ?? ''));
    let at = exchange;
    for (let n = 0; n < 5 && at.headers.get('location')?.startsWith('/'); n++) {
      for (const line of at.headers.getSetCookie()) cookies.set(...cookiesIn(line)[0]!);
      const cookie = [...cookies].map((pair) => pair.join('=')).join('; ');
      const sent = { 'x-forwarded-for': newAddress(), cookie };
      const path = at.headers.get('location')!;
      at = { method: 'GET', path, sent, errors: [], ...(await this.transmit('GET', path, sent)) };
    }
    return at;
  }

  fill(text: string): Promise<string> {
    return filledIn(text, (name: Live) => this.world.value(name));
  }

  private async bytesOf(body: BodyDraft | FormDraft, headers: Record<string, string>): Promise<Buffer> {
    if ('page' in body) {
      const { pairs, files } = await this.formPairs(body, headers);
      if (files.length > 0 && headers['content-type'] === undefined) {
        const parts = pairs.map(
          ([name, value]) => [name, files.includes(name) ? SMALL_IMAGE : value] as const,
        );
        const { body: bytes, headers: sent } = await inParts(Object.fromEntries(parts));
        Object.assign(headers, sent);
        return Buffer.concat([bytes, Buffer.from(body.tail, 'latin1')]);
      }
      headers['content-type'] ??= FORM;
      return Buffer.from(new URLSearchParams(pairs).toString() + body.tail, 'latin1');
    }
    if (body.type !== undefined) headers['content-type'] ??= body.type;
    const bytes = Buffer.from(await this.fill(body.text), body.spoilt === 'utf16' ? 'utf16le' : 'utf8');
    if (body.spoilt === 'cut') return bytes.subarray(0, Math.floor(bytes.length * 0.7));
    if (body.spoilt === 'not_utf8')
      return Buffer.concat([bytes.subarray(0, -2), Buffer.from([0xc3, 0x28, 0xff])]);
    return body.spoilt === 'with_bom' ? Buffer.concat([Buffer.from('\ufeff'), bytes]) : bytes;
  }

  /** Opens the page and fills in the form with this action; `files`: the names of its fields that take a file. */
  private async formPairs(
    form: FormDraft,
    headers: Record<string, string>,
  ): Promise<{ pairs: [string, string][]; files: string[] }> {
    const shown = await this.formsOn(await this.fill(form.page), headers.cookie);
    const wanted = await this.fill(form.action);
    const found = shown.find(({ action }) => action.split('#', 1)[0] === wanted);
    const other = shown.find(({ action }) => action.split('#', 1)[0] !== wanted);
    const tokenOf = (each: typeof found) => each?.fields.find(({ name }) => name === 'csrf_token')?.values[0];
    const pairs: [string, string][] = [...form.further];
    for (const field of found?.fields ?? []) {
      const values = form.fields[field.name] ?? filledValues(field);
      if (field.name !== 'csrf_token') for (const value of values) pairs.push([field.name, value]);
      else if (form.csrf === 'foreign') pairs.push([field.name, tokenOf(other) ?? 'x']);
      else if (form.csrf !== 'absent')
        pairs.push([field.name, (form.csrf === 'wrong' ? 'x' : '') + field.values[0]!]);
    }
    const filled = await Promise.all(pairs.map(async ([name, value]) => [name, await this.fill(value)]));
    const files = (found?.isInParts ? found.fields : []).filter(({ type }) => type === 'file');
    return { pairs: filled as [string, string][], files: files.map(({ name }) => name) };
  }

  private formsOn(page: string, cookie: string | undefined): Promise<ShownForm[]> {
    const key = `${cookie} ${page}`;
    const known = this.opened?.get(key);
    if (known) return known;
    const sent: Record<string, string> = cookie === undefined ? {} : { cookie };
    const forms = this.transmit('GET', page, { 'x-forwarded-for': newAddress(), ...sent }).then(({ text }) =>
      readPage(text, page).forms.filter(({ method }) => method === 'post'),
    );
    this.opened?.set(key, forms);
    return forms;
  }

  private transmit(
    method: string,
    path: string,
    headers: Record<string, string>,
    body?: Buffer,
  ): Promise<{ status: number; headers: Headers; text: string }> {
    return new Promise((resolve, reject) => {
      const length = body ? { 'content-length': String(body.length) } : {};
      const request = httpRequest(
        this.service.url,
        { agent: this.agent, method, path, headers: { ...length, ...headers } },
        (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => {
            chunks.push(chunk);
            // It would not end; its beginning is enough.
            if (response.headers['content-type'] !== 'text/event-stream') return;
            finish();
            response.destroy();
          });
          response.on('error', reject);
          response.on('end', () => finish());
          const finish = () => {
            const all = new Headers();
            for (let at = 0; at < response.rawHeaders.length; at += 2)
              all.append(response.rawHeaders[at]!, response.rawHeaders[at + 1]!);
            resolve({
              status: response.statusCode!,
              headers: all,
              text: decoded(Buffer.concat(chunks), all.get('content-encoding')).toString('utf8'),
            });
          };
        },
      );
      request.on('error', reject);
      request.end(body);
    });
  }
}

/** The answer to HEAD tells the encoding of a body that it does not have. */
function decoded(body: Buffer, encoding: string | null): Buffer {
  if (body.length === 0 || encoding === null) return body;
  if (encoding === 'gzip') return gunzipSync(body);
  if (encoding === 'br') return brotliDecompressSync(body);
  throw new Error(`The body has the encoding ${encoding}.`);
}

/** Whether it did what it was sent for: whoever is no longer signed in is led to a login or a confirmation. */
const isAccepted = ({ status, headers }: Exchange): boolean =>
  status < 400 && !/^\/login|[?&]return_to=/.test(headers.get('location') ?? '');

const cookiesIn = (header: string): [string, string][] =>
  header.split('; ').map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]);

/** A new client address for each request, so that no request counts the failures of another. */
const newAddress = (): string => {
  const n = ++addresses;
  return `11.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`;
};
