import { SERVICE_ACTOR } from '#records/audit/audit.service.js';
import { AccessChanges } from '#platform/database/changes/access-changes.service.js';
import { ChangeFeed } from '#entrypoints/oauth/access-changes/change-feed.service.js';
import { TokenKeysService } from '#access/tokens/keys/token-keys.service.js';
import type { UserEntity } from '#access/users/accounts/user.entity.js';
import { UsersService } from '#access/users/accounts/users.service.js';
import { EventStream, type StreamOptions } from '../support/event-stream.js';
import { madeForEach, madeOnce, refresh, revoke, type TestClient, until } from '../support/spec.js';
import { whileFrozen } from '../support/listening-connections.js';
import { startInstance, useSharedService } from '../support/test-service.js';
import { accessRecordOf, endingIn } from '../support/tokens.js';

const PATH = '/v2/access_changes';

const service = useSharedService({ instances: 2 });
const here = service;
const there = madeOnce(() => service.instances[1]!);
let bearer: string;
const open: EventStream[] = [];

const inspector = madeOnce(() => service.make.operatorClient(['token:introspect']));
beforeAll(async () => (bearer = await service.make.clientToken(inspector)));
// An instance ends its streams when it could not read the changes for a second, and so also when this process stood still that long.
beforeEach(() => {
  for (const { app } of [here, there])
    jest.spyOn(app.get(ChangeFeed) as unknown as { endAll(): void }, 'endAll').mockReturnValue();
});
afterEach(() => {
  open.splice(0).forEach((stream) => stream.close());
  jest.restoreAllMocks();
});

const follow = async (options: StreamOptions = {}, at = there): Promise<EventStream> => {
  const stream = await EventStream.open(at.url + PATH, { bearer, ...options });
  open.push(stream);
  return stream;
};
const followed = async (options: StreamOptions = {}, at = there): Promise<EventStream> => {
  let stream = await follow(options, at);
  await until('the instance reads the changes', async () => {
    if (stream.status === 503) stream = await follow(options, at);
    return stream.status !== 503;
  });
  expect([stream.status, stream.text]).toEqual([200, expect.any(String)]);
  return stream.live();
};
/**
 * Readers who resume are told again what is not on the disk yet, and the tests' database does not wait for its disk; and what was
 * changed while a transaction was open anywhere on the server, such as one of a test that runs in parallel.
 */
async function untilAllIsOnDisk(): Promise<void> {
  const newest = await service.database.value<number>(
    'SELECT coalesce(max(xid::text::float8), 0) AS newest FROM access_changes',
  );
  for (const { app } of [here, there]) {
    const changes = app.get(AccessChanges);
    await until(
      'everything is on the disk',
      () => changes.isTrusted && changes.durableStamp.position > newest,
    );
  }
}
const disable = (userId: string) =>
  here.app.get(UsersService).update(userId, { enabled: false }, SERVICE_ACTOR);
/** Changes someone whom nothing else concerns, and waits until the stream tells of it: everything before has then been told. */
async function toldUpTo(stream: EventStream): Promise<StreamEventData[]> {
  const { id } = await service.make.user();
  await disable(id);
  await until('the mark is told', () => dataOf(stream).some(({ user_id }) => user_id === id));
  return dataOf(stream).filter(({ user_id }) => user_id !== id);
}
type StreamEventData = { client_id?: string; user_id?: string };
const dataOf = (stream: EventStream) => stream.events.map(({ data }) => data as StreamEventData);

describe('The feed of changes is refused', () => {
  it('without a token, without the scope, and to a token that was asked for without it', async () => {
    const operator = await service.make.operatorClient(['admin:read', 'token:introspect']);
    const tokens = [
      undefined,
      'cds_at_nothing',
      await service.make.adminToken().then(() => service.make.clientToken(operator, 'admin:read')),
      await service.make.clientToken(await service.make.client()),
    ];
    const answers = await Promise.all(tokens.map((token) => service.http.get(PATH, { bearer: token })));
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 403, 403]);
    expect(answers[2]!.headers.get('www-authenticate')).toContain('scope="token:introspect"');
  });

  it('for a query that is no valid text, as its description says', async () => {
    expect((await service.http.get(`${PATH}?page_after=%`, { bearer })).status).toBe(400);
  });

  it('to a client that follows it a hundred times already, until one of these ends', async () => {
    const streams = await Promise.all(Array.from({ length: 100 }, () => followed()));
    const refused = await there.http.get(PATH, { bearer });
    expect([refused.status, Number(refused.headers.get('retry-after')) > 0]).toEqual([429, true]);
    await followed({ bearer: await service.make.adminToken(['token:introspect']) });
    streams[0]!.close();
    await until('there is room again', async () => {
      return (await follow()).status === 200;
    });
  });
});

describe('The feed of changes', () => {
  it('is a stream that is neither cached nor compressed, and has no body for HEAD', async () => {
    const { status, headers } = await followed({ headers: { 'accept-encoding': 'br, gzip' } });
    expect(status).toBe(200);
    expect(headers).toMatchObject({ 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
    expect(headers['content-encoding']).toBeUndefined();
    const head = await there.http.send(PATH, { method: 'HEAD', bearer });
    expect([head.status, head.headers.get('content-type'), head.text]).toEqual([
      200,
      'text/event-stream',
      '',
    ]);
    // A stream has no length.
    expect(head.headers.has('content-length')).toBe(false);
  });

  describe('tells, on another instance, that', () => {
    const client = madeForEach(() => service.make.client());
    const user = madeForEach(() => service.make.user());
    const tokens = madeForEach(() => service.make.tokens(client, user));
    const stream = madeForEach(() => followed());

    const byHand = (sql: string, ...params: unknown[]) => service.database.query(sql, params);
    const both = () => ({ client_id: client.id, user_id: user.id });
    const CHANGES: [what: string, change: () => Promise<unknown>, subject: () => StreamEventData][] = [
      ["a user's token is revoked", () => revoke(here.http, client, tokens.access_token), both],
      [
        "a client's own token is revoked",
        async () => revoke(here.http, client, await service.make.clientToken(client)),
        () => ({ client_id: client.id }),
      ],
      ['a grant is revoked', () => revoke(here.http, client, tokens.refresh_token), both],
      ['a consent is withdrawn', () => service.make.revokeConsent(client, user), both],
      ['a consent loses a scope', () => service.make.consent(client, user, ['vehicle:read']), both],
      [
        'a client is disabled',
        () => service.make.updateClient(client, { enabled: false }),
        () => ({ client_id: client.id }),
      ],
      ['a client is deleted', () => service.make.deleteClient(client), () => ({ client_id: client.id })],
      [
        'all tokens of a client are revoked',
        () => service.make.revokeTokens(client),
        () => ({ client_id: client.id }),
      ],
      ['a user is disabled', () => disable(user.id), () => ({ user_id: user.id })],
      ['a user is erased', () => service.make.eraseUser(user), () => ({ user_id: user.id })],
      [
        'the owner of a client is disabled by hand',
        () => byHand('UPDATE users SET enabled = false WHERE id = $1', client.ownerId),
        () => ({ client_id: client.id }),
      ],
      ['all grants are deleted by hand', () => byHand('TRUNCATE grants CASCADE'), () => ({})],
      [
        'a key is withdrawn',
        async () =>
          here.app.get(TokenKeysService).revoke((await accessRecordOf(service, tokens.access_token)).keyId),
        () => ({}),
      ],
    ];

    it.each(CHANGES)('%s', async (what, change, subject) => {
      await change();
      // The key that the next tests use is another one.
      if (what === 'a key is withdrawn') bearer = await service.make.clientToken(inspector);
      await until(`it tells that ${what}`, () => dataOf(stream).some((data) => isSame(data, subject())));
      if (what !== 'a key is withdrawn')
        expect(dataOf(stream).filter((data) => !mentions(data, client, user))).toEqual([]);
    });

    it('nothing ends when a token is refreshed, a secret is replaced, or a user consents', async () => {
      await refresh(here.http, client, tokens.refresh_token);
      await service.make.rotateSecret(client);
      await service.make.consent(await service.make.client(), user);
      expect(await toldUpTo(stream)).toEqual([]);
    });
  });

  it('resumes after the last event without a gap, on any instance', async () => {
    await untilAllIsOnDisk();
    const stream = await followed();
    const [first, second, third] = await Promise.all([1, 2, 3].map(() => service.make.user()));
    await disable(first!.id);
    await until('the first is told', () => stream.events.length > 0);
    stream.close();
    await disable(second!.id);
    const resumed = await followed({ lastEventId: stream.events[0]!.id }, here);
    // The second is replayed before the stream is live. What came while a transaction was open anywhere on the server is told again.
    const kinds = (of: EventStream) => new Set(of.events.map(({ event }) => event));
    const named = (users: { id: string }[]) => users.map(({ id }) => ({ user_id: id }));
    expect(dataOf(resumed)).toContainEqual({ user_id: second!.id });
    expect(named([first!, second!])).toEqual(expect.arrayContaining(dataOf(resumed)));
    await disable(third!.id);
    await until('the third is told', () => dataOf(resumed).some(({ user_id }) => user_id === third!.id));
    const again = await followed({ lastEventId: resumed.position }, here);
    expect(named([first!, second!, third!])).toEqual(expect.arrayContaining(await toldUpTo(again)));
    expect([kinds(resumed), kinds(again)]).toEqual([new Set(['change']), new Set(['change'])]);
  });

  it('tells a client in a sandbox of nobody: every change is everybody, live and in the replay', async () => {
    const sandbox = await service.make.client({
      environment: 'sandbox',
      scopes: ['token:introspect'],
      grantTypes: ['client_credentials'],
      redirectUris: [],
    });
    const token = await service.make.clientToken(sandbox);
    const stream = await followed({ bearer: token });
    const { position } = stream;
    const [first, second] = [await service.make.user(), await service.make.user()];
    await disable(first.id);
    await until('a change is told', () => stream.events.length > 0);
    await disable(second.id);
    await until('another is told', () => stream.events.length > 1);
    expect(new Set(dataOf(stream).map((data) => JSON.stringify(data)))).toEqual(new Set(['{}']));
    const replayed = await followed({ bearer: token, lastEventId: position }, here);
    // Also as it happens, if this instance had not read it yet.
    const kinds = new Set(replayed.events.map(({ event, data }) => `${event} ${JSON.stringify(data)}`));
    expect(kinds).toEqual(new Set(['change {}']));
    for (const { text } of [stream, replayed]) expect(text).not.toMatch(/user0|clnt0/);
  });

  it('loses nothing to a reader who is cut again and again', async () => {
    await untilAllIsOnDisk();
    const users = await Promise.all(Array.from({ length: 15 }, () => service.make.user()));
    const told = new Set<string>();
    let stream = await followed();
    const changing = (async () => {
      for (const { id } of users) await disable(id);
    })();
    const isTold = ({ id }: UserEntity) => told.has(id);
    while (!users.every(isTold)) {
      const { position } = stream;
      for (const { user_id } of dataOf(stream)) told.add(user_id!);
      stream.close();
      stream = await followed({ lastEventId: position }, stream.text.length % 2 === 0 ? here : there);
    }
    await changing;
    expect(users.every(isTold)).toBe(true);
  });

  it('goes on when the connection to the database was cut, with what changed meanwhile', async () => {
    // Here it may end.
    jest.restoreAllMocks();
    await untilAllIsOnDisk();
    const stream = await followed();
    const user = await service.make.user();
    await service.database.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE application_name = 'charging-data-service listener' AND datname = current_database()`,
    );
    await service.database.query('UPDATE users SET enabled = false WHERE id = $1', [user.id]);
    let { position } = stream;
    const seen = (each: EventStream) => dataOf(each).some(({ user_id }) => user_id === user.id);
    let last = stream;
    await until('the change is told', async () => {
      if (seen(last)) return true;
      // It ends if it takes longer than a second until the changes are read again.
      if (!last.isOver) return false;
      position = last.position;
      const next = await follow({ lastEventId: position });
      if (next.status === 200) last = await next.live();
      return seen(last);
    });
  });

  it('begins with a reset where a position means nothing, or changes since were purged', async () => {
    await untilAllIsOnDisk();
    const stream = await followed();
    const { position } = stream;
    const [era, at] = position.split('.') as [string, string];
    await disable((await service.make.user()).id);
    await until('it is told', () => stream.events.length > 0);
    for (const lastEventId of [
      'x',
      '-1',
      `${Number(era) - 1}.${at}`,
      `${era}.`,
      '1.1',
      `${era}.${'9'.repeat(30)}`,
    ]) {
      const { events } = await followed({ lastEventId });
      expect([lastEventId, events[0]?.event]).toEqual([lastEventId, 'reset']);
    }
    const { events } = await followed({ lastEventId: position });
    expect(new Set(events.map(({ event }) => event))).toEqual(new Set(['change']));
    // As the purge does it, which may be at work on some of them.
    await service.database.query('DELETE FROM access_changes');
    let late = await followed({ lastEventId: position });
    expect(late.events).toEqual([{ event: 'reset', id: expect.any(String) as string, data: {} }]);
    // What it is told there is known, as soon as what was purged is on the disk.
    await until('nothing is told again', async () => {
      late = await followed({ lastEventId: late.position });
      return late.events.length === 0;
    });
  });

  it('shows that it is alive, and then says where it is', async () => {
    const stream = await followed();
    const begun = stream.position;
    await service.make
      .user()
      .then(({ id }) => service.database.query('DELETE FROM users WHERE id = $1', [id]));
    const { comments } = stream;
    await until('it says something', () => stream.comments > comments);
    // A transaction that is open anywhere on the server, such as one of a test that runs in parallel, holds the position up.
    await until('it says where it is by now', () => stream.position !== begun);
  });
});

describe('The feed of changes ends', () => {
  it('when its token is revoked, its token expires, or its client is disabled', async () => {
    const client = await service.make.operatorClient(['token:introspect']);
    const [revoked, expiring, kept] = [
      await service.make.clientToken(client),
      await endingIn(service, await service.make.clientToken(client), 3600),
      await service.make.clientToken(client),
    ];
    const streams = [
      await followed({ bearer: revoked }),
      await followed({ bearer: expiring }),
      await followed({ bearer: kept }),
    ];
    await revoke(here.http, client, revoked);
    await streams[0]!.over();
    expect(streams.map(({ isOver }) => isOver)).toEqual([true, false, false]);
    const changes = there.app.get(AccessChanges);
    const afterAnHour = changes.databaseNow + 3_660_000;
    jest.spyOn(changes, 'databaseNow', 'get').mockReturnValue(afterAnHour);
    await streams[1]!.over();
    expect(streams[2]!.isOver).toBe(false);
    await service.make.updateClient(client, { enabled: false });
    await streams[2]!.over();
    expect((await there.http.get(PATH, { bearer: kept })).status).toBe(401);
  });

  it('when its instance could not read the changes for a second', async () => {
    jest.restoreAllMocks();
    const stream = await followed();
    await whileFrozen(service.database.url, 2, () => stream.over());
  });

  it('when its instance stops, which does not wait for it', async () => {
    const third = await startInstance(service.database, { BASE_URL: service.url });
    const stream = await followed({}, third);
    await third.app.close();
    await stream.over();
    expect(stream.text.endsWith('\n\n')).toBe(true);
  });
});

const isSame = (a: StreamEventData, b: StreamEventData) =>
  a.client_id === b.client_id && a.user_id === b.user_id;
const mentions = (data: StreamEventData, client: TestClient, user: UserEntity) =>
  Object.keys(data).length === 0 ||
  data.client_id === client.id ||
  [user.id, client.ownerId].includes(data.user_id ?? '');
