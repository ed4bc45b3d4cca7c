import { newKey } from '../../support/client-keys.js';
import { createHash, randomBytes } from 'node:crypto';
import type { FastifyReply } from 'fastify';
import { DataSource } from 'typeorm';
import type { UserEntity } from '#access/users/accounts/user.entity.js';
import { SERVICE_ACTOR } from '#records/audit/audit.service.js';
import { UnsubscribeKeys } from '#records/mail/unsubscribe-keys.service.js';
import { Transactions } from '#platform/database/queries/transactions.js';
import { NotificationsService } from '#records/notifications/notifications.service.js';
import { PurposesService } from '#access/scopes/purposes/purposes.service.js';
import { ScopesService } from '#access/scopes/scopes.service.js';
import { IdentitiesRepository } from '#access/identity-providers/identities.repository.js';
import { hashPassword } from '#platform/secrets/passwords.js';
import type { OperatorInvitation } from '#events/partners/members/invitation.js';
import { InvitationsRepository } from '#events/partners/members/invitations.repository.js';
import { MembersService } from '#events/partners/members/members.service.js';
import { insertRedirectUriRequest } from '../../support/redirect-uri-requests.js';
import { digestOf, newSecret } from '#platform/secrets/tokens.js';
import { AuthorizationCodesService } from '#access/tokens/codes/authorization-codes.service.js';
import { newId } from '#platform/secrets/ids.js';
import { AuthenticatorAppsRepository } from '#access/users/factors/authenticator-apps.repository.js';
import { PasskeysRepository } from '#access/users/factors/passkeys.repository.js';
import { RecoveryCodesRepository } from '#access/users/factors/recovery-codes.repository.js';
import { PendingSignInsService } from '#access/users/factors/pending-sign-ins.service.js';
import { EmailLinksRepository } from '#access/users/emails/email-links.repository.js';
import { PasswordLinksService } from '#access/users/passwords/password-links.service.js';
import { SessionsRepository } from '#access/users/sessions/sessions.repository.js';
import { sandboxOf } from '#events/sandbox/driver.js';
import { DriversService } from '#events/sandbox/drivers.service.js';
import { AccountDeletionsService } from '#access/users/closing/account-deletions.service.js';
import { DataExportsRepository } from '#access/users/closing/data-exports.repository.js';
import { UsersRepository } from '#access/users/accounts/users.repository.js';
import { UsersService } from '#access/users/accounts/users.service.js';
import { ClientSecretsService } from '#access/clients/client-secrets.service.js';
import { ClientsService } from '#access/clients/clients.service.js';
import { MemberSessions } from '#entrypoints/webhook-portal/access/member-sessions.service.js';
import { PortalLinksRepository } from '#entrypoints/webhook-portal/access/portal-links.repository.js';
import { insertContact } from '../../support/contacts.js';
import { RecoveriesService } from '#events/webhooks/deliveries/recoveries.service.js';
import { EndpointsService } from '#events/webhooks/endpoints/endpoints.service.js';
import { newRecoveryCode, recoveryCodeDigest } from '#access/users/factors/recovery-codes.service.js';
import { PASSWORD, REDIRECT_URI, type TestClient } from '../../support/factory.js';
import { basicHeader } from '../../support/http.js';
import { makeEndpoint, seedDelivery } from '../../support/portal.js';
import type { TestService } from '../../support/test-service.js';
import { exchangeCode } from '../../support/token-requests.js';
import { showLogo } from '../../support/uploads.js';
import type { Live } from './live.js';
import { PROVIDER } from './routes.js';

const TTL = 3600;
export const VERIFIER = 'v'.repeat(43);
const CHALLENGE = createHash('sha256').update(VERIFIER).digest('base64url');

const SIGN_IN = { method: 'password', gaveSecondFactor: true } as const;

let count = 0;
let passwordHash: Promise<string> | undefined;

/** Fixtures that no other test depends on. Each is created when it is first needed, and a request may destroy it. */
export class World {
  private readonly made = new Map<string, Promise<unknown>>();

  /** `hookUrl` is the URL at which the endpoints of this world receive deliveries. */
  constructor(
    private readonly service: TestService,
    private readonly hookUrl: string,
  ) {}

  value(name: Live): Promise<string> {
    return this.once(`value ${name}`, () => this.makers[name]());
  }

  private once<T>(name: string, make: () => Promise<T>): Promise<T> {
    let found = this.made.get(name) as Promise<T> | undefined;
    if (!found) this.made.set(name, (found = make()));
    return found;
  }

  private readonly makers: Record<Live, () => Promise<string>> = {
    userId: async () => (await this.user()).id,
    ownerId: async () => (await this.owner()).id,
    operatorId: async () => (await this.operator()).id,
    otherOperatorId: async () => (await this.newUser({ role: 'operator' })).id,
    disabledUserId: async () => {
      const { id } = await this.newUser();
      await this.app.get(UsersService).update(id, { enabled: false }, SERVICE_ACTOR);
      return id;
    },
    clientId: async () => (await this.client()).id,
    clientSecret: async () => (await this.client()).secret,
    publicClientId: async () =>
      (await this.service.make.client({ type: 'public', ownerId: (await this.owner()).id })).id,
    disabledClientId: async () => {
      const { id } = await this.service.make.client({ ownerId: (await this.owner()).id });
      await this.app.get(ClientsService).update(id, { enabled: false }, SERVICE_ACTOR);
      return id;
    },
    operatorClientId: async () => (await this.operatorClient()).id,
    operatorClientSecret: async () => (await this.operatorClient()).secret,
    endpointId: async () => (await this.endpoint()).id,
    disabledEndpointId: async () =>
      (await makeEndpoint(this.service, await this.client(), { url: this.hookUrl, enabled: false })).id,
    deliveryId: async () =>
      seedDelivery(this.service, await this.endpoint(), { state: 'failed', attempts: [{ status: 500 }] }),
    recoveryId: async () => {
      const range = { endpointId: (await this.endpoint()).id, from: new Date(0), to: new Date(1) };
      return this.app.get(RecoveriesService).recover((await this.client()).id, range, SERVICE_ACTOR);
    },
    notificationId: async () => this.notificationOf(await this.owner()),
    ownNotificationId: async () => this.notificationOf(await this.user()),
    grantId: async () => {
      await this.tokens();
      const sql =
        'SELECT id FROM grants WHERE client_id = $1 AND revoked_at IS NULL ORDER BY id DESC LIMIT 1';
      const rows: { id: string }[] = await this.app.get(DataSource).query(sql, [(await this.client()).id]);
      return rows[0]!.id;
    },
    approvalId: async () => {
      const admin = await this.value('otherOperatorId');
      const rows: { id: string }[] = await this.app.get(DataSource).query(
        `INSERT INTO approvals (id, action, subject_id, requested_by_type, requested_by_id, requested_by_person, expires_at)
         VALUES ($1, 'user.erase', $2, 'user', $3, $3, now() + interval '7 days') RETURNING id`,
        [newId('appr'), (await this.newUser()).id, admin],
      );
      return rows[0]!.id;
    },
    sessionId: async () => {
      await this.newSession(await this.user());
      const sql = 'SELECT id FROM sessions WHERE user_id = $1 ORDER BY id DESC LIMIT 1';
      const rows: { id: string }[] = await this.app.get(DataSource).query(sql, [(await this.user()).id]);
      return rows[0]!.id;
    },
    scopeName: async () => {
      const name = `property_${++count}:read`;
      const scope = { name, description: 'See what properties need', audience: 'partner' as const };
      await this.app.get(ScopesService).put(scope, SERVICE_ACTOR);
      return name;
    },
    requestId: async () => {
      const id = `property-${++count}`;
      // Of the client whose portal is visited.
      await this.service.http.send('/o/token', {
        form: { grant_type: 'client_credentials' },
        basic: { id: (await this.client()).id, secret: 'not the secret' },
        headers: { 'x-request-id': id },
      });
      return id;
    },
    receiptId: async () => {
      const [{ id: clientId }, { id: userId }] = [await this.client(), await this.user()];
      // Not through the service, which would also raise a notification.
      await this.app
        .get(DataSource)
        .query(
          "INSERT INTO consents (client_id, user_id, scopes) VALUES ($1, $2, '{vehicle:read}') ON CONFLICT (client_id, user_id) DO UPDATE SET revoked_at = NULL",
          [clientId, userId],
        );
      const sql = 'SELECT id FROM consent_versions WHERE user_id = $1 ORDER BY number DESC LIMIT 1';
      const rows: { id: string }[] = await this.app.get(DataSource).query(sql, [userId]);
      return rows[0]!.id;
    },
    purposeName: async () => {
      const name = `property_${++count}`;
      await this.app.get(PurposesService).put(name, { en: 'To test what properties need' }, SERVICE_ACTOR);
      return name;
    },
    portalKey: async () => this.newPortalKey((await this.client()).id),
    passwordKey: async () =>
      (await this.app.get(PasswordLinksService).create((await this.user()).id, SERVICE_ACTOR))
        .split('/')
        .at(-1)!,
    emailKey: async () => {
      const key = newSecret('emailKey');
      const { id: userId, email } = await this.user();
      const link = { digest: digestOf(key), purpose: 'verify' as const, userId, email, ttl: TTL };
      await this.run(() => this.app.get(EmailLinksRepository).insert(link));
      return key;
    },
    exportKey: async () => {
      const key = newSecret('exportKey');
      const { id: userId } = await this.user();
      const link = { digest: digestOf(key), userId, ttl: TTL };
      await this.run(() => this.app.get(DataExportsRepository).replace(link));
      return key;
    },
    deletion: async () => {
      const { id } = await this.user();
      await this.app.get(AccountDeletionsService).request(id, SERVICE_ACTOR);
      return id;
    },
    confirmedAddress: async () => {
      const { id, email } = await this.user();
      const sql = 'UPDATE users SET email_verified_at = now() WHERE id = $1';
      await this.app.get(DataSource).query(sql, [id]);
      return email;
    },
    signUpKey: async () => {
      const key = newSecret('signUpKey');
      const email = `signing-up${++count}@mail.example`;
      const link = { digest: digestOf(key), purpose: 'sign_up' as const, userId: null, email, ttl: TTL };
      await this.run(() => this.app.get(EmailLinksRepository).insert(link));
      return key;
    },
    unsubscribeKey: async () => {
      const { id: userId, email } = await this.user();
      return this.app.get(UnsubscribeKeys).make({ id: userId, kind: 'actionable' }, email);
    },
    contactId: async () => {
      const { id } = await this.client();
      return insertContact(this.service.database, id, `contact${++count}@mail.example`);
    },
    ownerSession: async () => this.newSession(await this.owner()),
    memberSession: async () => {
      const digest = digestOf(await this.value('ownerSession'));
      const { user } = (await this.app.get(SessionsRepository).find(digest))!;
      return (await this.app.get(MemberSessions).start(user, (await this.client()).id, SERVICE_ACTOR))!;
    },
    oldSecret: async () =>
      (await this.app.get(ClientSecretsService).rotate((await this.client()).id, TTL, SERVICE_ACTOR)).secret,
    clientKeys: async () => {
      const keys = await Promise.all([newKey(), newKey()]);
      const jwks = { keys: keys.map(({ publicJwk }) => publicJwk as never) };
      const { id } = await this.client();
      const changes = { tokenEndpointAuthMethod: 'private_key_jwt', jwks } as const;
      await this.app.get(ClientsService).update(id, changes, SERVICE_ACTOR);
      return keys[0]!.kid;
    },
    memberId: async () => {
      const { id } = await this.newUser();
      // Of both, because the paths of the console name the first user.
      for (const organisation of [await this.owner(), await this.user()]) {
        const sql = "UPDATE users SET kind = 'organisation' WHERE id = $1";
        await this.app.get(DataSource).query(sql, [organisation.id]);
        await this.app.get(MembersService).add(organisation.id, id, 'viewer', SERVICE_ACTOR);
      }
      return id;
    },
    invitationKey: async () => (await this.newInvitation()).key,
    invitationId: async () => (await this.newInvitation()).id,
    operatorInvitationId: async () =>
      (await this.newInvitation({ organisationId: null, invitedBy: (await this.operator()).id })).id,
    redirectUriRequestId: async () => {
      const [{ id: clientId }, { id: by }] = [await this.client(), await this.owner()];
      const uri = `https://app.example/${++count}`;
      return insertRedirectUriRequest(this.service.database, { clientId, by, uri });
    },
    code: async () => this.newCode(),
    accessToken: async () => (await this.tokens()).accessToken,
    refreshToken: async () => (await this.tokens()).refreshToken!,
    partnerToken: async () => this.service.make.clientToken(await this.client()),
    operatorToken: async () => this.service.make.clientToken(await this.operatorClient()),
    userSession: async () => {
      // Create another session, so that a request can end it.
      await this.value('sessionId');
      return this.newSession(await this.user());
    },
    operatorSession: async () => this.newSession(await this.operator()),
    portalSession: async () => this.newPortalSession((await this.client()).id),
    driverId: async () => {
      const sandbox = sandboxOf(await this.sandboxClient())!;
      const { id } = await this.app.get(DriversService).create(sandbox, {}, SERVICE_ACTOR);
      await this.app.get(DriversService).consent(sandbox, id, undefined, SERVICE_ACTOR);
      return id;
    },
    sandboxToken: async () => this.service.make.clientToken(await this.sandboxClient()),
    sandboxPortalSession: async () => this.newPortalSession((await this.sandboxClient()).id),
    passkeyId: async () => {
      const id = newId('pkey');
      const passkey = { id, userId: (await this.user()).id, credentialId: id, publicKey: Buffer.alloc(1) };
      const rest = { signCount: 0, transports: [], name: 'A key', backedUp: false };
      await this.run(() => this.app.get(PasskeysRepository).insert({ ...passkey, ...rest }));
      return id;
    },
    pendingSignIn: async () => {
      let secret = '';
      const reply = { setCookie: (_name: string, value: string) => (secret = value) };
      const user = await this.app.get(UsersRepository).findByIdWithPassword((await this.user()).id);
      await this.app.get(PendingSignInsService).begin(reply as unknown as FastifyReply, user!);
      return secret;
    },
    recoveryCode: async () => {
      const [{ id }, code] = [await this.user(), newRecoveryCode()];
      const codes = this.app.get(RecoveryCodesRepository);
      await this.run(() => codes.insert(id, [recoveryCodeDigest(id, code)]));
      return code;
    },
    csrfSecret: async () => randomBytes(32).toString('base64url'),
    clientBasic: async () => basicHeader(await this.client()).slice('Basic '.length),
    operatorBasic: async () => basicHeader(await this.operatorClient()).slice('Basic '.length),
    email: async () => (await this.user()).email,
    newName: async () => `property_${++count}`,
    newEmail: async () => `new${++count}@mail.example`,
    hookUrl: async () => this.hookUrl,
  };

  private get app() {
    return this.service.app;
  }

  private readonly run: Transactions['run'] = (work) => this.app.get(Transactions).run(work);

  private owner = () => this.once('owner', () => this.newUser({ kind: 'organisation' }));
  private operator = () => this.once('operator', () => this.newUser({ role: 'operator' }));
  private operatorClient = (): Promise<TestClient> =>
    this.once('operator client', () => this.service.make.operatorClient());
  private client = (): Promise<TestClient> =>
    this.once('client', async () => {
      const client = await this.service.make.client({ ownerId: (await this.owner()).id });
      // So that the console shows the forms that remove it.
      await showLogo(this.service, client);
      return client;
    });
  private user = (): Promise<UserEntity> =>
    this.once('user', async () => {
      const user = await this.newUser();
      await this.service.make.consent(await this.client(), user);
      const identity = { issuer: 'https://company.example', subject: user.id, userId: user.id };
      const identities = this.app.get(IdentitiesRepository, { strict: false });
      await this.run(() => identities.insert({ ...identity, provider: PROVIDER }));
      // So that the account page shows the forms that remove it.
      const apps = this.app.get(AuthenticatorAppsRepository);
      await this.run(() => apps.replace(user.id, Buffer.alloc(1), 0));
      return user;
    });
  private endpoint = () =>
    this.once('endpoint', async () => {
      const endpoint = await makeEndpoint(this.service, await this.client(), { url: this.hookUrl });
      // So that its page shows the forms that reveal headers, rotate keys and send what was missed.
      const endpoints = this.app.get(EndpointsService);
      const headers = { 'x-property': 'a value' };
      const signatureVersions = ['v1', 'v1a'] as const;
      const changes = { headers, signatureVersions: [...signatureVersions], enabled: false };
      await endpoints.update(endpoint.id, undefined, changes, SERVICE_ACTOR);
      await endpoints.update(endpoint.id, undefined, { enabled: true }, SERVICE_ACTOR);
      return endpoint;
    });

  /** The user has the default password, which is hashed only once because hashing costs more than everything else here. */
  private async newUser(input: { kind?: 'organisation'; role?: 'operator' } = {}): Promise<UserEntity> {
    passwordHash ??= hashPassword(PASSWORD);
    const user = await this.service.make.user({ password: undefined, ...input });
    const sql = 'UPDATE users SET password_hash = $2 WHERE id = $1';
    await this.app.get(DataSource).query(sql, [user.id, await passwordHash]);
    return Object.assign(user, { passwordHash: await passwordHash });
  }

  private async newSession(user: UserEntity): Promise<string> {
    const secret = newSecret('session');
    const details = { ttl: TTL, address: null, userAgent: null, signIn: SIGN_IN };
    const sessions = this.app.get(SessionsRepository);
    await this.run(() => sessions.insert(digestOf(secret), user, details));
    return secret;
  }

  private sandboxClient = (): Promise<TestClient> =>
    this.once('sandbox client', async () =>
      this.service.make.client({ ownerId: (await this.owner()).id, environment: 'sandbox' }),
    );

  private async newPortalSession(clientId: string): Promise<string> {
    const [digest, secret] = [digestOf(await this.newPortalKey(clientId)), newSecret('linkSession')];
    const links = this.app.get(PortalLinksRepository);
    await this.run(() => links.redeem(digest, digestOf(secret), TTL));
    return secret;
  }

  private async newPortalKey(id: string): Promise<string> {
    const key = newSecret('portalKey');
    await this.app.get(PortalLinksRepository).insertLink(digestOf(key), { client: { id } }, TTL);
    return key;
  }

  private async newInvitation(
    ofOperators?: Pick<OperatorInvitation, 'organisationId' | 'invitedBy'>,
  ): Promise<{ id: string; key: string }> {
    const [id, key] = [newId('mbiv'), newSecret('invitationKey')];
    const invitations = this.app.get(InvitationsRepository);
    const invitation = { id, email: `invited${++count}@mail.example`, digest: digestOf(key), ttl: TTL };
    const whose = ofOperators ?? { organisationId: (await this.owner()).id };
    await this.run(() => invitations.insert({ ...invitation, ...whose, role: 'viewer' }));
    return { id, key };
  }

  private async newCode(): Promise<string> {
    const { id: clientId, scopes } = await this.client();
    const { id: userId } = await this.user();
    const [redirectUri, codeChallenge] = [REDIRECT_URI, CHALLENGE];
    const code = { clientId, userId, redirectUri, scopes, codeChallenge, dpopJkt: null };
    return this.run(() => this.app.get(AuthorizationCodesService).issue(code));
  }

  private tokens = () =>
    this.once('tokens', async () => {
      const { id } = await this.client();
      return exchangeCode({ app: this.app }, id, await this.newCode(), VERIFIER);
    });

  private async notificationOf({ id: userId }: UserEntity): Promise<string> {
    const message = {
      messageId: 'ERR1',
      category: 'SERVICE' as const,
      shortTextTitle: 'A',
      shortTextBody: 'B',
    };
    const input = { ...message, userId, clientId: (await this.client()).id };
    return (await this.app.get(NotificationsService).raiseByOperator(input, SERVICE_ACTOR)).id;
  }
}
