import { DisclosureReports, type ReportStatistics } from './disclosure-reports.js';
import type { Access } from './introspection.js';
import { Introspections, type GuardStatistics } from './introspections.js';
import { metadataOf, metadataPathOf } from './metadata.js';
import { settingsOf, type GuardOptions } from './options.js';
import { Refusals } from './refusal.js';

// RFC 6750 §2.1; longer than any token of the service.
const TOKEN = /^[A-Za-z0-9\-._~+/]{1,2048}={0,2}$/;
const BEARER = /^Bearer +(.*)$/i;
const USER_ID = /^user[0-7][0-9A-HJKMNP-TV-Z]{25}$/;

/** A request as far as it matters here. */
export interface GuardedRequest {
  /** The header `Authorization`. */
  authorization: string | undefined;
  /** Path and query string. */
  url?: string;
}

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
  /** Where the metadata is served (RFC 9728), and what it is. */
  readonly metadataPath: string;
  readonly metadata: Readonly<Record<string, unknown>>;

  /** Throws a TypeError for a wrong option. */
  constructor(options: GuardOptions) {
    const settings = settingsOf(options);
    this.introspections = new Introspections(settings);
    this.refusals = new Refusals(settings);
    this.reports = settings.reportDisclosures ? new DisclosureReports(settings) : undefined;
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
   * What a token may do, with the data of a user if one is given; undefined if the token is not valid. Throws an AccessRefusal with
   * status 503 if that cannot be known.
   */
  async scopesFor(token: string, userId?: string): Promise<Access | undefined> {
    if (!TOKEN.test(token)) return undefined;
    if (userId === undefined || USER_ID.test(userId)) return this.introspections.of(token, userId);
    // There is no such user.
    const access = await this.introspections.of(token, undefined);
    return access && { ...access, scopes: [] };
  }

  /** What the token of a request may do; throws an AccessRefusal, ready to be answered, if that is less than is needed. */
  async authorize(request: GuardedRequest, { scopes = [], userId }: Needs = {}): Promise<Access> {
    const [, token] = BEARER.exec(request.authorization ?? '') ?? [];
    if (hasTokenInQuery(request.url)) throw this.refusals.tokenInQuery(request.authorization !== undefined);
    if (token === undefined) throw this.refusals.noToken();
    const access = await this.scopesFor(token.trimEnd(), userId);
    if (!access) throw this.refusals.invalidToken();
    const isEnough =
      scopes.every((scope) => access.scopes.includes(scope)) &&
      (userId === undefined || access.scopes.length > 0);
    if (!isEnough) throw this.refusals.insufficientScope(scopes);
    // A route that names no scope may serve of this user's data whatever the token allows.
    this.noteServed(access, scopes.length === 0 && userId !== undefined ? access.scopes : scopes, userId);
    return access;
  }
}

function hasTokenInQuery(url: string | undefined): boolean {
  const [, query] = url?.split('?', 2) ?? [];
  return query !== undefined && new URLSearchParams(query).has('access_token');
}
