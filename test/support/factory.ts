import { createHash, randomBytes } from 'node:crypto';
import { hash } from '@node-rs/argon2';
import { DataSource } from 'typeorm';
import { SERVICE_ACTOR } from '#records/audit/audit.service.js';
import type { ClientEntity } from '#access/clients/client.entity.js';
import { ClientSecretsService } from '#access/clients/client-secrets.service.js';
import type { ClientChanges, NewClient } from '#access/clients/client.resource.js';
import { ClientsService } from '#access/clients/clients.service.js';
import { ConsentsService } from '#access/consents/consents.service.js';
import { ConsentApprovals } from '#access/consents/consent-approvals.service.js';
import { OPERATOR_SCOPES } from '#access/scopes/scope.entity.js';
import type { UserEntity } from '#access/users/accounts/user.entity.js';
import type { NewUser, UserChanges } from '#access/users/accounts/user.resource.js';
import { UsersService } from '#access/users/accounts/users.service.js';
import { BrowserSession } from './browser-session.js';
import type { TestInstance } from './test-service.js';
import { authorize, signIn } from './without-pages.js';

export const PASSWORD = 'correct horse battery staple';
export const REDIRECT_URI = 'https://app.example/callback';
export const PARTNER_SCOPES = ['charging_session:read', 'vehicle:read'];

/** A client with its credentials: `secret` is empty for a public client. */
export interface TestClient extends ClientEntity {
  secret: string;
}

export interface Tokens {
  access_token: string;
  refresh_token: string;
  expires_in: number;
  scope: string;
  token_type: string;
}

export interface Pkce {
  verifier: string;
  challenge: string;
}

export function newPkce(): Pkce {
  const verifier = randomBytes(32).toString('base64url');
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') };
}

type WithId = Pick<UserEntity | ClientEntity, 'id'>;

let counter = 0;

/** A hash of {@link PASSWORD} like those of the service, but of the least work, which a login then costs as well. */
const hashCheaply = (): Promise<string> => hash(PASSWORD, { memoryCost: 8, timeCost: 1, parallelism: 1 });

/** Creates what tests need, through the services that the admin API uses, or over HTTP where that is the point of the test. */
export class Factory {
  constructor(private readonly instance: TestInstance) {}

  /** A user with {@link PASSWORD}; hashed by the service, at full cost, only if `password` is given. */
  async user(input: Partial<NewUser> = {}): Promise<UserEntity> {
    const n = ++counter;
    const user = { email: `user${n}@mail.example`, name: `User ${n}`, ...input };
    const users = this.instance.app.get(UsersService);
    if ('password' in user) return users.create(user, SERVICE_ACTOR);

    const operatorRole = user.role === 'operator' ? (user.operatorRole ?? 'admin') : undefined;
    const passwordHash = await hashCheaply();
    return users.createBy((insert) => insert({ ...user, operatorRole, passwordHash }, SERVICE_ACTOR));
  }

  /** A confidential client of a new owner with both partner scopes and both grants, unless specified otherwise. */
  async client(input: Partial<NewClient> = {}): Promise<TestClient> {
    const ownerId = input.ownerId ?? (await this.user({ kind: 'organisation' })).id;
    const { client, secret } = await this.instance.app.get(ClientsService).create(
      {
        name: `Client ${++counter}`,
        type: 'confidential',
        grantTypes:
          input.type === 'public' ? ['authorization_code'] : ['authorization_code', 'client_credentials'],
        scopes: PARTNER_SCOPES,
        redirectUris: [REDIRECT_URI],
        companyService: await this.isForCompany(ownerId, input.scopes ?? []),
        ...input,
        ownerId,
      },
      SERVICE_ACTOR,
    );
    return Object.assign(client, { secret: secret ?? '' });
  }

  /** Whether a client with these scopes has to be a service of the company: with operator scopes, unless an operator owns it. */
  private async isForCompany(ownerId: string, scopes: string[]): Promise<boolean> {
    if (!scopes.some((scope) => OPERATOR_SCOPES.includes(scope))) return false;
    return (await this.instance.app.get(UsersService).find(ownerId))?.role !== 'operator';
  }

  /** A client with these operator scopes: a service of the company, which no role limits, unless an operator is the owner. */
  operatorClient(
    scopes = ['admin:read', 'admin:write', 'event:publish', 'token:introspect'],
    owner?: WithId,
  ): Promise<TestClient> {
    const owned = owner && { ownerId: owner.id };
    return this.client({ scopes, grantTypes: ['client_credentials'], redirectUris: [], ...owned });
  }

  /** A client-credentials token. */
  async clientToken(client: TestClient, scope?: string): Promise<string> {
    const answer = await this.instance.http.token(
      { grant_type: 'client_credentials', scope },
      { id: client.id, secret: client.secret },
    );
    if (answer.status !== 200) throw new Error(`no token: ${answer.text}`);
    return answer.json.access_token as string;
  }

  /** A token of a new client with these operator scopes. */
  async adminToken(scopes?: string[], owner?: WithId): Promise<string> {
    return this.clientToken(await this.operatorClient(scopes, owner));
  }

  async consent(client: ClientEntity, user: UserEntity, scopes = PARTNER_SCOPES): Promise<void> {
    await this.instance.app.get(ConsentApprovals).record(client.id, user.id, scopes, null, SERVICE_ACTOR);
  }

  /** Withdraws the consent of a user, as operators do. */
  revokeConsent(client: WithId, user: WithId) {
    return this.instance.app.get(ConsentsService).revoke(client.id, user.id, SERVICE_ACTOR);
  }

  updateUser({ id }: WithId, changes: UserChanges): Promise<UserEntity> {
    return this.instance.app.get(UsersService).update(id, changes, SERVICE_ACTOR);
  }

  /** Disables a user, or enables it again. */
  setEnabled(user: WithId, enabled: boolean): Promise<UserEntity> {
    return this.updateUser(user, { enabled });
  }

  eraseUser({ id }: WithId) {
    return this.instance.app.get(UsersService).erase(id, SERVICE_ACTOR);
  }

  /** Makes the sessions of a user too old for what asks for a recent login. */
  ageSessions({ id }: WithId) {
    return this.instance.app
      .get(DataSource)
      .query("UPDATE sessions SET created_at = now() - interval '16 minutes' WHERE user_id = $1", [id]);
  }

  updateClient({ id }: WithId, changes: ClientChanges): Promise<ClientEntity> {
    const updated = this.instance.app.get(ClientsService).update(id, changes, SERVICE_ACTOR);
    return updated.then(({ client }) => client);
  }

  deleteClient({ id }: WithId) {
    return this.instance.app.get(ClientsService).delete(id, SERVICE_ACTOR);
  }

  revokeTokens({ id }: WithId) {
    return this.instance.app.get(ClientsService).revokeTokens(id, SERVICE_ACTOR);
  }

  /** Gives a client a new secret; the one it has stays valid for so many seconds. */
  rotateSecret({ id }: WithId, overlapSeconds = 0) {
    return this.instance.app.get(ClientSecretsService).rotate(id, overlapSeconds, SERVICE_ACTOR);
  }

  /** Gives a user another role. */
  setRole(user: Pick<UserEntity, 'id'>, roles: Pick<NewUser, 'role' | 'operatorRole'>): Promise<UserEntity> {
    return this.instance.app.get(UsersService).update(user.id, roles, SERVICE_ACTOR);
  }

  /** A browser session in which the user is signed in. */
  async signedIn(user: Pick<UserEntity, 'email'>, password = PASSWORD): Promise<BrowserSession> {
    const browser = new BrowserSession(this.instance.url);
    await signIn(this.instance, browser, user.email, password);
    return browser;
  }

  /** A browser session of a new user. */
  async signedInNew(input: Partial<NewUser> = {}): Promise<BrowserSession> {
    return this.signedIn(await this.user(input));
  }

  /** An authorization code that the user granted to the client. */
  async code(
    client: ClientEntity,
    user: UserEntity,
    { pkce, redirectUri = REDIRECT_URI, scope }: { pkce?: Pkce; redirectUri?: string; scope?: string } = {},
  ): Promise<string> {
    const browser = await this.signedIn(user);
    const location = await authorize(this.instance, browser, {
      response_type: 'code',
      client_id: client.id,
      redirect_uri: redirectUri,
      ...(scope === undefined ? {} : { scope }),
      ...(pkce ? { code_challenge: pkce.challenge, code_challenge_method: 'S256' } : {}),
    });
    const code = location.searchParams.get('code');
    if (!code) throw new Error(`no code: ${location.href}`);
    return code;
  }

  /** Several codes, in one browser. */
  async codes(client: ClientEntity, user: UserEntity, number: number): Promise<string[]> {
    const browser = await this.signedIn(user);
    const request = { response_type: 'code', client_id: client.id, redirect_uri: REDIRECT_URI };
    const codes: string[] = [];
    while (codes.length < number) {
      const location = await authorize(this.instance, browser, request);
      codes.push(location.searchParams.get('code')!);
    }
    return codes;
  }

  /** The first tokens of a new grant, from the token endpoint. */
  async tokens(client: TestClient, user: UserEntity, scope?: string): Promise<Tokens> {
    const pkce = newPkce();
    const code = await this.code(client, user, { pkce, scope });
    const answer = await this.instance.http.token({
      grant_type: 'authorization_code',
      client_id: client.id,
      client_secret: client.secret || undefined,
      code,
      redirect_uri: REDIRECT_URI,
      code_verifier: pkce.verifier,
    });
    if (answer.status !== 200) throw new Error(`no tokens: ${answer.text}`);
    return answer.json as Tokens;
  }
}
