import { SERVICE_ACTOR } from '#records/audit/audit.service.js';
import { ConsentsService } from '#access/consents/consents.service.js';
import { PasswordLinksService } from '#access/users/passwords/password-links.service.js';
import type { UserEntity } from '#access/users/accounts/user.entity.js';
import type { UserChanges } from '#access/users/accounts/user.resource.js';
import { UsersService } from '#access/users/accounts/users.service.js';
import { BrowserSession, madeOnce, type TestClient, type Tokens, useSharedService } from '../support/spec.js';
import { consentedCode } from '../support/codes.js';
import { done, exchange, isAccepted, refresh } from '../support/oauth.js';
import { listOf } from '../support/list-of.js';

const service = useSharedService();

/** An unredeemed portal link, and a browser that entered the portal by another link. */
interface Portal {
  link: string;
  inside: BrowserSession;
}

/** A client with everything that can depend on it, on its owner, and on one of its users. */
interface World {
  client: TestClient;
  owner: UserEntity;
  user: UserEntity;
  /** Tokens of the user's grant to the client. */
  tokens: Tokens;
  code: string;
  browser: BrowserSession;
  /** The client's client-credentials token, and the portal that was opened with it. */
  clientToken: string;
  clientPortal: Portal;
  /** Tokens of the owner's own grant to the client, and the portal that was opened with them. */
  ownerTokens: Tokens;
  ownerPortal: Portal;
  ownerBrowser: BrowserSession;
}

async function portalBy(bearer: string): Promise<Portal> {
  const newLink = async () => {
    const { json } = await service.http.get('/webhook_portal', { bearer });
    return new URL(json.url as string).pathname;
  };
  const inside = new BrowserSession(service.url);
  const answer = await inside.fillIn(await newLink());
  if (answer.status !== 303) throw new Error(`not inside: ${answer.status}`);
  return { link: await newLink(), inside };
}

/** Without the pages, which are not what ends. */
const tokensOf = async (client: TestClient, user: UserEntity) =>
  done(await exchange(service.http, client, await consentedCode(service, client.id, user.id))).json as Tokens;

async function world(): Promise<World> {
  const [owner, user] = [await service.make.user({ kind: 'organisation' }), await service.make.user()];
  const client = await service.make.client({ ownerId: owner.id });
  const clientToken = await service.make.clientToken(client);
  const ownerTokens = await tokensOf(client, owner);
  return {
    client,
    owner,
    user,
    tokens: await tokensOf(client, user),
    code: await consentedCode(service, client.id, user.id),
    browser: await service.make.signedIn(user),
    clientToken,
    clientPortal: await portalBy(clientToken),
    ownerTokens,
    ownerPortal: await portalBy(ownerTokens.access_token),
    ownerBrowser: await service.make.signedIn(owner),
  };
}

const isSignedIn = async (browser: BrowserSession) =>
  (await browser.open('/login')).html.querySelector('input[name=password]') === null;

/** Returns what still works, by trying it. Single-use items come last. */
async function working(all: World): Promise<string[]> {
  const { http } = service;
  const opens = async ({ link, inside }: Portal) => (await inside.open(link)).status === 200;
  const isInside = async ({ inside }: Portal) => (await inside.open('/portal')).status === 200;
  const attempts: Record<string, () => Promise<boolean>> = {
    'access token': () => isAccepted(http, all.tokens.access_token),
    session: () => isSignedIn(all.browser),
    'client token': () => isAccepted(http, all.clientToken),
    'portal link of the client': () => opens(all.clientPortal),
    'portal session of the client': () => isInside(all.clientPortal),
    "owner's access token": () => isAccepted(http, all.ownerTokens.access_token),
    "owner's session": () => isSignedIn(all.ownerBrowser),
    "owner's portal link": () => opens(all.ownerPortal),
    "owner's portal session": () => isInside(all.ownerPortal),
    'refresh token': async () => (await refresh(http, all.client, all.tokens.refresh_token)).status === 200,
    "owner's refresh token": async () =>
      (await refresh(http, all.client, all.ownerTokens.refresh_token)).status === 200,
    code: async () => (await exchange(http, all.client, all.code)).status === 200,
  };
  const found: string[] = [];
  for (const [name, attempt] of Object.entries(attempts)) if (await attempt()) found.push(name);
  return found.sort();
}

const OF_THE_USER = ['access token', 'refresh token', 'code'];
const OF_THE_USERS_ACCOUNT = [...OF_THE_USER, 'session'];
const OF_THE_CLIENT = ['client token', 'portal link of the client', 'portal session of the client'];
const OF_THE_OWNERS_GRANT = listOf(`
  owner's access token, owner's refresh token, owner's portal link, owner's portal session
`);
const ALL = [...OF_THE_USERS_ACCOUNT, ...OF_THE_CLIENT, ...OF_THE_OWNERS_GRANT, "owner's session"];
const allBut = (...gone: string[]) => ALL.filter((name) => !gone.includes(name)).sort();

const users = () => service.app.get(UsersService);
const update = (user: UserEntity, changes: UserChanges) => users().update(user.id, changes, SERVICE_ACTOR);
const updateClient = (client: TestClient, changes: { enabled?: boolean; name?: string }) =>
  service.make.updateClient(client, changes);
const consents = () => service.app.get(ConsentsService);

describe('Everything keeps working', () => {
  it('as long as nothing is revoked, also after changes', async () => {
    const all = await world();
    await update(all.user, { name: 'Another name', enabled: true, email: all.user.email });
    await update(all.owner, { name: 'Another name', kind: 'individual' });
    await updateClient(all.client, { name: 'Another name', enabled: true });
    await service.make.consent(all.client, all.user);
    expect(await working(all)).toEqual([...ALL].sort());
  });
});

describe('Revoking the consent of a user', () => {
  it('ends what depends on it, and a new consent revives nothing', async () => {
    const all = await world();
    await consents().revoke(all.client.id, all.user.id, SERVICE_ACTOR);
    expect(await isAccepted(service.http, all.tokens.access_token)).toBe(false);
    await service.make.consent(all.client, all.user);
    expect(await working(all)).toEqual(allBut(...OF_THE_USER));
  });

  it("who owns the client also ends the portal that was opened with the owner's token", async () => {
    const all = await world();
    await consents().revoke(all.client.id, all.owner.id, SERVICE_ACTOR);
    expect((await all.ownerPortal.inside.open('/portal')).status).toBe(401);
    await service.make.consent(all.client, all.owner);
    expect(await working(all)).toEqual(allBut(...OF_THE_OWNERS_GRANT));
  });

  it("leaves the user's grants to other clients alone", async () => {
    const [client, other] = [await service.make.client(), await service.make.client()];
    const user = await service.make.user();
    const elsewhere = await tokensOf(other, user);
    await tokensOf(client, user);
    await consents().revoke(client.id, user.id, SERVICE_ACTOR);
    expect(await isAccepted(service.http, elsewhere.access_token)).toBe(true);
    expect((await refresh(service.http, other, elsewhere.refresh_token)).status).toBe(200);
  });
});

describe('Disabling a client', () => {
  it('ends everything it holds, and enabling it again revives nothing', async () => {
    const all = await world();
    await updateClient(all.client, { enabled: false });
    for (const token of [all.tokens.access_token, all.clientToken, all.ownerTokens.access_token])
      expect(await isAccepted(service.http, token)).toBe(false);
    for (const { link, inside } of [all.clientPortal, all.ownerPortal]) {
      expect((await inside.open('/portal')).status).toBe(401);
      expect((await inside.open(link)).status).toBe(410);
    }
    await updateClient(all.client, { enabled: true });
    expect(await working(all)).toEqual(['session', "owner's session"].sort());
  });
});

describe('Disabling a user', () => {
  it('ends what depends on the user; enabled again, the user gets working tokens by a new authorization only', async () => {
    const all = await world();
    await update(all.user, { enabled: false });
    expect(await isAccepted(service.http, all.tokens.access_token)).toBe(false);
    expect(await isSignedIn(all.browser)).toBe(false);
    await update(all.user, { enabled: true });
    expect(await working(all)).toEqual(allBut(...OF_THE_USERS_ACCOUNT));
    const tokens = await service.make.tokens(all.client, all.user);
    expect(await isAccepted(service.http, tokens.access_token)).toBe(true);
  });

  it("who owns a client also ends its client-credentials tokens and portal, but leaves its users' tokens", async () => {
    const all = await world();
    await update(all.owner, { enabled: false });
    for (const token of [all.clientToken, all.ownerTokens.access_token])
      expect(await isAccepted(service.http, token)).toBe(false);
    expect((await all.clientPortal.inside.open('/portal')).status).toBe(401);
    expect((await all.clientPortal.inside.open(all.clientPortal.link)).status).toBe(410);
    await update(all.owner, { enabled: true });
    expect(await working(all)).toEqual([...OF_THE_USERS_ACCOUNT].sort());
  });
});

const accountChanges: [name: string, change: (user: UserEntity) => Promise<unknown>][] = [
  ['password', (user) => update(user, { password: 'another horse battery staple' })],
  ['password, to the same one,', (user) => update(user, { password: 'correct horse battery staple' })],
  ['email address', (user) => update(user, { email: `new.${user.email}` })],
  [
    'password by a password link',
    async (user) => {
      const links = service.app.get(PasswordLinksService);
      const key = new URL(await links.create(user.id, SERVICE_ACTOR)).pathname.split('/').at(-1)!;
      expect(await links.redeem(key, 'another horse battery staple', SERVICE_ACTOR)).toBeDefined();
    },
  ],
];

describe.each(accountChanges)('Changing the %s', (_name, change) => {
  it('of a user ends what depends on the user', async () => {
    const all = await world();
    await change(all.user);
    expect(await working(all)).toEqual(allBut(...OF_THE_USERS_ACCOUNT));
  });

  it('of the owner leaves what the client holds in its own name', async () => {
    const all = await world();
    await change(all.owner);
    expect(await working(all)).toEqual(allBut(...OF_THE_OWNERS_GRANT, "owner's session"));
  });
});

describe('After an ending,', () => {
  it('the stored reason says why the grant ended', async () => {
    const client = await service.make.client();
    const users = [await service.make.user(), await service.make.user()] as const;
    for (const user of users) await tokensOf(client, user);
    await update(users[0], { enabled: false });
    await updateClient(client, { enabled: false });
    const rows = await service.database.column<string>(
      'SELECT revocation_reason AS reason FROM grants WHERE client_id = $1 ORDER BY user_id = $2 DESC',
      [client.id, users[0].id],
    );
    expect(rows).toEqual(['user_disabled', 'client_disabled']);
  });
});

describe('At every use, the effective scopes of a token', () => {
  const inspector = madeOnce(() => service.make.operatorClient(['token:introspect']));

  const scopeOf = async (token: string) => {
    const basic = { id: inspector.id, secret: inspector.secret };
    const { json } = await service.http.send('/o/introspect/', { basic, form: { token } });
    return (json as { active: boolean; scope?: string }).scope;
  };
  const BOTH = 'charging_session:read vehicle:read';
  const setClientScopes = (client: TestClient, scopes: string[]) =>
    service.database.query('UPDATE clients SET scopes = $2 WHERE id = $1', [client.id, scopes]);

  it('are its own scopes ∩ those of the active consent', async () => {
    const [client, user] = [await service.make.client(), await service.make.user()];
    const wide = await service.make.tokens(client, user);
    const narrow = await service.make.tokens(client, user, 'vehicle:read');
    expect([await scopeOf(wide.access_token), await scopeOf(narrow.access_token)]).toEqual([
      BOTH,
      'vehicle:read',
    ]);
    await service.make.consent(client, user, ['charging_session:read']);
    expect(await scopeOf(wide.access_token)).toBe('charging_session:read');
    expect(await scopeOf(narrow.access_token)).toBe('');
    await service.make.consent(client, user);
    expect([await scopeOf(wide.access_token), await scopeOf(narrow.access_token)]).toEqual([
      BOTH,
      'vehicle:read',
    ]);
  });

  it("are also limited to the client's scopes", async () => {
    const [client, user] = [await service.make.client(), await service.make.user()];
    const { access_token } = await service.make.tokens(client, user);
    const own = await service.make.clientToken(client);
    await setClientScopes(client, ['vehicle:read']);
    expect([await scopeOf(access_token), await scopeOf(own)]).toEqual(['vehicle:read', 'vehicle:read']);
    await setClientScopes(client, []);
    expect([await scopeOf(access_token), await scopeOf(own)]).toEqual(['', '']);
  });

  it('exclude an operator scope that the client no longer holds', async () => {
    const operator = await service.make.operatorClient(['admin:read', 'admin:write']);
    const bearer = await service.make.clientToken(operator);
    expect((await service.http.get('/admin/users', { bearer })).status).toBe(200);
    await setClientScopes(operator, ['admin:write']);
    expect((await service.http.get('/admin/users', { bearer })).status).toBe(403);
  });

  it('do not grow with a later, wider consent of the user', async () => {
    const [client, user] = [await service.make.client(), await service.make.user()];
    const { access_token } = await service.make.tokens(client, user, 'vehicle:read');
    await service.make.tokens(client, user);
    expect(await scopeOf(access_token)).toBe('vehicle:read');
  });
});
