import type { TestClient, Tokens } from './factory.js';
import { PARTNER_SCOPES } from './factory.js';
import type { Answer, Http, HttpOptions } from './http.js';
import { done, exchange, isAccepted, refresh, revoke } from './oauth.js';
import { heardEverywhere, type Judge, type Tracked, type TrackedTokens } from './tracked-tokens.js';

/** The result of one authorization. */
export interface Family {
  userId: string;
  tokens: Tokens;
  /** Its newest access token. */
  newest: Tracked;
}

/** An instance that is queried over HTTP. */
export const judgeAt = (http: Http): Judge => ({
  accepts: (token) => isAccepted(http, token),
  reason: async (bearer) =>
    (await http.get('/v2/users', { bearer })).headers.get('www-authenticate') ?? 'no longer',
});

/** Issues, refreshes and ends the tokens of one client over HTTP, each step at the next of several instances. */
export class TokenTraffic {
  private turn = 0;

  /** `operator`: the client that administers clients and users; `newCode`: creates an authorization code of a new user. */
  constructor(
    readonly client: TestClient,
    private readonly operator: TestClient,
    private readonly instances: Http[],
    private readonly tracked: TrackedTokens,
    private readonly newCode: () => Promise<{ code: string; userId: string }>,
  ) {}

  next(): Http {
    return this.instances[this.turn++ % this.instances.length]!;
  }

  async issue(): Promise<void> {
    this.tracked.add(await this.tokenOf(this.client), this.client.id);
  }

  async family(): Promise<Family> {
    const { code, userId } = await this.newCode();
    const tokens = tokensIn(await exchange(this.next(), this.client, code));
    return { userId, tokens, newest: this.tracked.add(tokens.access_token, this.client.id, userId) };
  }

  async refresh(family: Family): Promise<void> {
    family.tokens = tokensIn(await refresh(this.next(), this.client, family.tokens.refresh_token));
    family.newest = this.tracked.add(family.tokens.access_token, this.client.id, family.userId);
  }

  /**
   * Issues tokens of users and of the client at every instance. The returned function ends the users' tokens, except for some, in
   * every possible way.
   */
  async usersTokens(): Promise<() => Promise<void>> {
    const families: Family[] = [];
    for (let n = 0; n < 6; n++) families.push(await this.family());
    for (const family of families) await this.refresh(family);
    // Also from the client that the instances have cached.
    for (let n = 0; n < 2 * this.instances.length; n++) await this.issue();
    return () => this.endUsersTokens(families);
  }

  private async endUsersTokens(families: Family[]): Promise<void> {
    const [revokedAlone, revoked, ofConsent, ofUser, ofGrant, untouched] = families as [
      Family,
      Family,
      Family,
      Family,
      Family,
      Family,
    ];
    await this.tracked.end(
      (each) => each === revokedAlone.newest,
      async () => done(await revoke(this.next(), this.client, revokedAlone.tokens.access_token)),
    );
    await this.tracked.end(of(revoked), async () =>
      done(await revoke(this.next(), this.client, revoked.tokens.refresh_token)),
    );
    const consent = `/admin/clients/${this.client.id}/consents/${ofConsent.userId}`;
    await this.tracked.end(of(ofConsent), () => this.administer(consent, { method: 'DELETE' }));
    await this.administer(consent, { method: 'PUT', json: { scopes: PARTNER_SCOPES } });
    await this.tracked.end(of(ofUser), () => this.setEnabled(`/admin/users/${ofUser.userId}`, false));
    await this.setEnabled(`/admin/users/${ofUser.userId}`, true);
    const [grant] = (await this.administer(`/admin/grants?user_id=${ofGrant.userId}`)).json as {
      id: string;
    }[];
    await this.tracked.end(of(ofGrant), () =>
      this.administer(`/admin/grants/${grant!.id}`, { method: 'DELETE' }),
    );
    await this.refresh(untouched);
  }

  /** Ends all tokens of the client at once, in every possible way, and issues new ones in between. */
  async endTokensOfClient(): Promise<void> {
    const client = `/admin/clients/${this.client.id}`;
    const owner = `/admin/users/${this.client.ownerId}`;
    await this.issue();
    await this.tracked.end(
      () => true,
      () => this.setEnabled(client, false),
    );
    await this.setEnabled(client, true);
    await heardEverywhere();
    await this.issue();
    await this.family();
    await this.tracked.end(
      () => true,
      () => this.administer(`${client}/revoke_tokens`, { method: 'POST' }),
    );
    await heardEverywhere();
    await this.issue();
    await this.family();
    await this.tracked.end(
      ({ userId }) => userId === undefined,
      () => this.setEnabled(owner, false),
    );
    await this.setEnabled(owner, true);
    await heardEverywhere();
    await this.issue();
  }

  private setEnabled(path: string, enabled: boolean): Promise<Answer> {
    return this.administer(path, { method: 'PATCH', json: { enabled } });
  }

  private async administer(path: string, options: HttpOptions = {}): Promise<Answer> {
    // A new token each time: the key that signed the last one may be revoked.
    const bearer = await this.tokenOf(this.operator);
    return done(await this.next().send(path, { bearer, ...options }));
  }

  private async tokenOf({ id, secret }: TestClient): Promise<string> {
    return tokensIn(await this.next().token({ grant_type: 'client_credentials' }, { id, secret }))
      .access_token;
  }
}

const of =
  ({ userId }: Family) =>
  (each: Tracked): boolean =>
    each.userId === userId;

const tokensIn = (answer: Answer): Tokens => done(answer).json as Tokens;
