import type { IncomingMessage } from 'node:http';
import { DisclosureReports, type ReportStatistics } from './disclosure-reports.js';
import type { Access } from './introspection.js';
import { Introspections, type GuardStatistics } from './introspections.js';
import { metadataOf, metadataPathOf } from './metadata.js';
import { settingsOf, type GuardOptions } from './options.js';
import { Proofs } from './proofs.js';
import { AccessRefusal, Refusals, unavailable, type Scheme } from './refusal.js';

// RFC 6750 §2.1; longer than any token of the service.
const TOKEN = /^[A-Za-z0-9\-._~+/]{1,2048}={0,2}$/;
const CREDENTIALS = /^(Bearer|DPoP) +(.*)$/i;
const USER_ID = /^user[0-7][0-9A-HJKMNP-TV-Z]{25}$/;

/** A request as far as it matters here. */
export interface GuardedRequest {
  /** The header `Authorization`. */
  authorization: string | undefined;
  /** Path and query string, as the caller sent them. */
  url?: string;
  /** The method: without it, no proof is accepted. */
  method?: string;
  /** The header `DPoP`. */
  dpop?: string | readonly string[];
  /** All headers as they came (`rawHeaders` of Node.js): of several `Authorization` headers, `authorization` is only the first. */
  rawHeaders?: readonly string[];
}

/** A request of Node.js as far as it matters here; `url` where a framework has changed that of the request. */
export const guarded = (
  request: Pick<IncomingMessage, 'headers' | 'rawHeaders' | 'method' | 'url'>,
  url = request.url,
): GuardedRequest => ({
  authorization: request.headers.authorization,
  url,
  method: request.method,
  dpop: request.headers['dpop'],
  rawHeaders: request.rawHeaders,
});

/** What a request needs. */
export interface Needs {
  /** All of these scopes. Without any, a valid token is enough; with a user, one that may do something with the user's data. */
  scopes?: readonly string[];
  /** The user whose data is asked for: the scopes are then those that this user's consent allows. */
  userId?: string;
}

/** Guards a service that holds the company's data: a token and the id of a user in, the allowed scopes out. */
export class AccessGuard {
  private readonly introspections: Introspections;
  private readonly refusals: Refusals;
  private readonly reports: DisclosureReports | undefined;
  private readonly proofs: Proofs | undefined;
  private readonly warn: (message: string) => void;
  /** The public origin of what is guarded. */
  private readonly origin: string;
  /** Where the metadata is served (RFC 9728), and what it is. */
  readonly metadataPath: string;
  readonly metadata: Readonly<Record<string, unknown>>;

  /** Throws a TypeError for a wrong option. */
  constructor(options: GuardOptions) {
    const settings = settingsOf(options);
    this.introspections = new Introspections(settings);
    this.refusals = new Refusals(settings);
    this.reports = settings.reportDisclosures ? new DisclosureReports(settings) : undefined;
    this.proofs = settings.dpop && new Proofs(settings.dpop.replays);
    this.warn = settings.warn;
    this.origin = settings.resource.origin;
    this.metadataPath = metadataPathOf(settings.resource);
    this.metadata = metadataOf(settings);
  }

  /** Follows the changes to access from now on, instead of from the first request on. */
  start(): void {
    this.introspections.start();
  }

  /** Closes all connections, at once but for that of the reports: resolves when what is left was reported, or three seconds later. */
  async close(): Promise<void> {
    this.introspections.close();
    await this.reports?.close();
  }

  get statistics(): GuardStatistics & { disclosures: ReportStatistics } {
    const disclosures = this.reports?.statistics ?? { reported: 0, waiting: 0, lost: 0 };
    return { ...this.introspections.statistics, disclosures };
  }

  /**
   * Notes that data of a user was served, for the report to the service. Requests that `authorize` admits are noted by themselves: this
   * is for programs that ask `scopesFor`. Without a user, it is the user of the token; without one either, nothing is noted.
   */
  noteServed({ clientId, userId: owner }: Access, scopes: readonly string[], userId = owner): void {
    if (userId !== undefined) this.reports?.note(clientId, userId, scopes);
  }

  /**
   * What a token may do, with the data of a user if one is given; undefined if the token is not valid, or bound to a key, which only
   * `authorize` checks. Throws an AccessRefusal with status 503 if that cannot be known.
   */
  async scopesFor(token: string, userId?: string): Promise<Access | undefined> {
    const access = await this.accessOf(token, userId);
    return access?.jkt === undefined ? access : undefined;
  }

  private async accessOf(token: string, userId: string | undefined): Promise<Access | undefined> {
    if (!TOKEN.test(token)) return undefined;
    if (userId === undefined || USER_ID.test(userId)) return this.introspections.of(token, userId);
    // There is no such user.
    const access = await this.introspections.of(token, undefined);
    return access && { ...access, scopes: [] };
  }

  /** What the token of a request may do; throws an AccessRefusal, ready to be answered, if that is less than is needed. */
  async authorize(request: GuardedRequest, { scopes = [], userId }: Needs = {}): Promise<Access> {
    if (hasSeveralTokens(request.rawHeaders)) throw this.refusals.severalTokens();
    const [, sent, token] = CREDENTIALS.exec(request.authorization ?? '') ?? [];
    if (hasTokenInQuery(request.url)) throw this.refusals.tokenInQuery(request.authorization !== undefined);
    const scheme: Scheme = sent?.toLowerCase() === 'dpop' ? 'DPoP' : 'Bearer';
    if (token === undefined || (scheme === 'DPoP' && !this.proofs)) throw this.refusals.noToken();
    const access = await this.accessOf(token.trimEnd(), userId);
    if (!access) throw this.refusals.invalidToken(scheme);
    if (scheme === 'DPoP') await this.checkProof(request, token.trimEnd(), access);
    else if (access.jkt !== undefined) throw this.refusals.boundToken();
    const isEnough =
      scopes.every((scope) => access.scopes.includes(scope)) &&
      (userId === undefined || access.scopes.length > 0);
    if (!isEnough) throw this.refusals.insufficientScope(scheme, scopes);
    // A route that names no scope may serve of this user's data whatever the token allows.
    this.noteServed(access, scopes.length === 0 && userId !== undefined ? access.scopes : scopes, userId);
    return access;
  }

  /** Throws an AccessRefusal unless the request proves the key of its token. */
  private async checkProof(request: GuardedRequest, token: string, { jkt }: Access): Promise<void> {
    if (jkt === undefined) throw this.refusals.unboundToken();
    const { dpop: proof, method, url = '' } = request;
    let refusal: string | undefined;
    try {
      refusal = await this.proofs!.refusalOf({ proof, method, url: this.origin + url, token, jkt });
    } catch (error) {
      if (error instanceof AccessRefusal) throw error;
      this.warn(`Whether a proof was used cannot be known: ${(error as Error).message}`);
      throw unavailable(1);
    }
    if (refusal !== undefined) throw this.refusals.invalidProof(refusal);
  }
}

/** RFC 6750 §2: Node.js drops all but the first `Authorization` header. */
function hasSeveralTokens(rawHeaders: readonly string[] = []): boolean {
  let found = 0;
  for (let n = 0; n < rawHeaders.length; n += 2)
    if (rawHeaders[n]!.toLowerCase() === 'authorization') found++;
  return found > 1;
}

function hasTokenInQuery(url: string | undefined): boolean {
  const [, query] = url?.split('?', 2) ?? [];
  return query !== undefined && new URLSearchParams(query).has('access_token');
}
