import type { UserEntity } from '#access/users/accounts/user.entity.js';
import { notificationsOf } from '../support/audit-events.js';
import { PASSWORD, refresh, type TestClient, useSharedService } from '../support/spec.js';
import { linksOf, membersIn, type Answer, type HttpOptions } from '../support/http.js';
import { endGrace } from '../support/tokens.js';

const UNKNOWN = 'notf01HN2NJ9NMRZBXT1H6FT9N7735';
const FULL = {
  message_id: 'ERR4711',
  category: 'ACTIONABLE',
  event_time: '2026-01-31T08:00:00.000Z',
  short_text_title: 'The cable is loose',
  short_text_body: 'Please look at the “cable” 🔌.',
  detail_page_title: 'Loose cables',
  detail_page_body: 'First line\n\nSecond line',
  external_link: 'https://help.example/cables?a=1&b=2#top',
  external_button_label: 'Read on',
};
const REQUIRED = {
  message_id: 'ERR1',
  category: 'SERVICE',
  short_text_title: 'Title',
  short_text_body: 'Body',
};

interface Notification {
  id: string;
  url: string;
  read_at?: string;
  resolved_at?: string;
}

describe('Notifications', () => {
  const service = useSharedService();
  let admin: string;
  let user: UserEntity;
  let client: TestClient;
  let bearer: string;

  /** Someone for whom nothing was raised yet. */
  const beginAnew = async () => {
    [user, client] = [await service.make.user(), await service.make.client()];
    bearer = (await service.make.tokens(client, user)).access_token;
  };
  beforeAll(async () => {
    admin = await service.make.adminToken();
    await beginAnew();
  });

  const raise = async (fields: Record<string, unknown> = {}): Promise<Notification> => {
    const json = { user_id: user.id, client_id: client.id, ...REQUIRED, ...fields };
    const answer = await service.http.send('/admin/notifications', { bearer: admin, json });
    expect(answer.status).toBe(201);
    return answer.json as Notification;
  };
  const show = (id: string, options: HttpOptions = {}): Promise<Answer> =>
    service.http.send(`/notifications/${id}`, { bearer, ...options });
  const list = (query = '', options: HttpOptions = {}): Promise<Answer> =>
    service.http.get(`/notifications${query}`, { bearer, ...options });
  const mark = (id: string, json: unknown, options: HttpOptions = {}): Promise<Answer> =>
    show(id, { method: 'PATCH', json, ...options });
  const raisedFor = ({ id }: UserEntity) => notificationsOf(service, id);
  const idsOf = (answer: Answer): string[] => (answer.json as Notification[]).map(({ id }) => id);
  const expectNotFound = (answer: Answer): void => {
    expect([answer.status, answer.headers.get('content-type')]).toEqual([
      404,
      'application/problem+json; charset=utf-8',
    ]);
    expect(answer.json.type).toBe(`${service.settings.baseUrl}/v2/problems/not-found/`);
  };

  describe('refuse', () => {
    it('a request without a valid token or with an unsupported version', async () => {
      const { id } = await raise();
      for (const token of [undefined, 'garbage']) {
        const answers = [
          await list('', { bearer: token }),
          await show(id, { bearer: token }),
          await mark(id, { read: true }, { bearer: token }),
        ];
        expect(answers.map(({ status }) => status)).toEqual([401, 401, 401]);
        for (const { json } of answers)
          expect(Object.keys(json as object)).toEqual(['status', 'title', 'detail']);
      }
      const headers = { 'service-version': '1' };
      expect((await list('', { headers })).json.type).toMatch(/\/unsupported-version\/$/);
      expect((await mark(id, { read: true }, { headers })).status).toBe(400);
      expect((await show(id)).json.read_at).toBeUndefined();
    });

    it.each([
      UNKNOWN,
      'x',
      'notf',
      UNKNOWN.toLowerCase(),
      `${UNKNOWN}x`,
      "' OR '1'='1",
      'user01HN2NJ9NMRZBXT1H6FT9N7735',
    ])('the unknown id %j', async (id) => {
      expectNotFound(await show(encodeURIComponent(id)));
      expectNotFound(await mark(encodeURIComponent(id), { read: true }));
    });

    it('every notification for another user or client, in the same way', async () => {
      await beginAnew();
      const owner = await service.make.user({ kind: 'organisation' });
      const other = await service.make.client({ ownerId: owner.id });
      const hidden = [
        await raise({ user_id: (await service.make.user()).id }),
        await raise({ client_id: other.id }),
        await raise({ client_id: null }),
        await raise({ user_id: owner.id, client_id: other.id }),
        await raise({ user_id: client.ownerId }),
      ];
      const unknown = await show(UNKNOWN);
      for (const { id } of hidden) {
        for (const answer of [await show(id), await mark(id, { read: true, resolved: true })]) {
          expectNotFound(answer);
          expect(answer.json).toEqual(unknown.json);
        }
      }
      expect((await list()).json).toEqual([]);
      const marks =
        'SELECT 1 FROM notifications WHERE id = ANY ($1) AND (read_at IS NOT NULL OR resolved_at IS NOT NULL)';
      expect(await service.database.query(marks, [hidden.map(({ id }) => id)])).toEqual([]);
    });

    it('marks that are no marks, naming the members, and change nothing', async () => {
      const { id } = await raise();
      for (const [marks, members] of [
        [{ read: 'true' }, ['read']],
        [{ read: 1 }, ['read']],
        [{ read: null }, ['read']],
        [{ resolved: null, read: [] }, ['read', 'resolved']],
        [{ read_at: '2026-01-01T00:00:00Z' }, ['read_at']],
        [{ read: true, category: 'INTERNAL' }, ['category']],
      ] as const) {
        const answer = await mark(id, marks);
        expect([answer.status, membersIn(answer).sort()]).toEqual([400, members]);
      }
      expect((await show(id)).json.read_at).toBeUndefined();
    });

    it.each([
      'page_size=0',
      'page_size=101',
      'page_after=x',
      'user_id=x',
      `page_after=${UNKNOWN}&page_before=${UNKNOWN}`,
    ])('the query %s', async (query) => expect((await list(`?${query}`)).status).toBe(400));
  });

  describe('have the members', () => {
    it('that are required, with a link that may be null', async () => {
      const { id } = await raise();
      expect((await show(id)).json).toEqual({
        id,
        url: `${service.settings.baseUrl}/notifications/${id}`,
        ...REQUIRED,
        event_time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        external_link: null,
      });
    });

    it('that are optional only if they have a value, unchanged', async () => {
      const { id, url } = await raise(FULL);
      const answer = await show(id);
      expect(answer.json).toEqual({ id, url, ...FULL });
      expect(answer.headers.get('service-version')).toBe('2');
      expect(answer.headers.get('cache-control')).toBe('no-store');
    });

    it('at the URL that they contain, also for HEAD', async () => {
      const { url } = await raise();
      const { pathname, origin } = new URL(url);
      expect(origin).toBe(service.settings.baseUrl);
      expect((await service.http.get(pathname, { bearer })).status).toBe(200);
      const head = await service.http.send(pathname, { bearer, method: 'HEAD' });
      expect([head.status, head.text]).toEqual([200, '']);
    });
  });

  describe('are marked', () => {
    it('as read and resolved, separately and once each, without changing any other', async () => {
      const [{ id }, other] = [await raise(), await raise()];
      const read = (await mark(id, { read: true })).json as Notification;
      expect([Boolean(read.read_at), read.resolved_at]).toEqual([true, undefined]);
      const resolved = (await mark(id, { resolved: true })).json as Notification;
      expect(resolved).toEqual({ ...read, resolved_at: expect.stringMatching(/Z$/) });
      expect((await mark(id, { read: true, resolved: true })).json as Notification).toEqual(resolved);
      expect((await show(id)).json).toEqual(resolved);
      const { read_at, resolved_at } = (await show(other.id)).json as Notification;
      expect([read_at, resolved_at]).toEqual([undefined, undefined]);
    });

    it('and the audit log says which mark was set, not which was asked for', async () => {
      const { id } = await raise();
      for (const marks of [{ read: true }, { read: true, resolved: true }, { read: true, resolved: true }])
        await mark(id, marks);
      const found = await service.database.column<object>(
        "SELECT after FROM audit_events WHERE subject_id = $1 AND action = 'notification.marked' ORDER BY id",
        [id],
      );
      expect(found).toEqual([{ read: true }, { resolved: true }]);
    });

    it('with the time of the first of many concurrent marks', async () => {
      const { id } = await raise();
      const answers = await Promise.all(
        Array.from({ length: 10 }, () => mark(id, { read: true, resolved: true })),
      );
      expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200));
      const times = answers.map(({ json }) => `${json.read_at} ${json.resolved_at}`);
      expect(new Set(times).size).toBe(1);
    });

    it('only by true, and marks cannot be removed', async () => {
      const { id } = await raise();
      const before = (await show(id)).json as Notification;
      for (const marks of [{}, { read: false }, { read: false, resolved: false }]) {
        const answer = await mark(id, marks);
        expect([answer.status, answer.json]).toEqual([200, before]);
      }
      await mark(id, { read: true });
      expect((await mark(id, { read: false })).json.read_at).toBeDefined();
    });
  });

  describe('are listed', () => {
    beforeEach(beginAnew);

    it('newest first, in the same form as on their own, including marked ones', async () => {
      expect([(await list()).status, (await list()).json]).toEqual([200, []]);
      const ids = [await raise(), await raise(FULL), await raise()].map(({ id }) => id).reverse();
      await mark(ids[1]!, { read: true, resolved: true });
      const answer = await list();
      expect(idsOf(answer)).toEqual(ids);
      expect(answer.json).toEqual(await Promise.all(ids.map(async (id) => (await show(id)).json as unknown)));
      expect(answer.headers.get('link')).toBeNull();
    });

    it('in pages, with links to the neighbouring pages', async () => {
      const ids: string[] = [];
      for (let n = 0; n < 5; n++) ids.unshift((await raise()).id);
      const first = await list('?page_size=2');
      expect([idsOf(first), Object.keys(linksOf(first))]).toEqual([ids.slice(0, 2), ['next']]);
      const follow = async (link: string): Promise<Answer> => {
        expect(new URL(link).origin).toBe(service.settings.baseUrl);
        return service.http.get(link.slice(service.settings.baseUrl.length), { bearer });
      };
      const second = await follow(linksOf(first).next!);
      expect([idsOf(second), Object.keys(linksOf(second)).sort()]).toEqual([
        ids.slice(2, 4),
        ['next', 'previous'],
      ]);
      const third = await follow(linksOf(second).next!);
      expect([idsOf(third), Object.keys(linksOf(third))]).toEqual([ids.slice(4), ['previous']]);
      const back = await follow(linksOf(second).previous!);
      expect([idsOf(back), linksOf(back).previous]).toEqual([ids.slice(0, 2), undefined]);
    });

    it('25 at a time by default, and at most 100', async () => {
      await service.database.query(
        `INSERT INTO notifications (id, user_id, client_id, message_id, category, short_text_title, short_text_body)
         SELECT 'notf00' || right($1, 8) || lpad(n::text, 16, '0'), $1, $2, 'ERR1', 'SERVICE', 'Title', 'Body' FROM generate_series(1, 130) n`,
        [user.id, client.id],
      );
      expect(idsOf(await list())).toHaveLength(25);
      expect(idsOf(await list('?page_size=100'))).toHaveLength(100);
    });
  });

  describe('for client credentials', () => {
    it('are those of the owner that concern the client', async () => {
      await beginAnew();
      const own = await raise({ user_id: client.ownerId });
      await raise();
      await raise({ user_id: client.ownerId, client_id: null });
      const sibling = await service.make.client({ ownerId: client.ownerId });
      await raise({ user_id: client.ownerId, client_id: sibling.id });
      const token = { bearer: await service.make.clientToken(client) };
      expect(idsOf(await list('', token))).toEqual([own.id]);
      expect((await mark(own.id, { read: true }, token)).json.read_at).toBeDefined();
    });
  });

  describe('about security', () => {
    beforeEach(beginAnew);

    it('are raised once by a refresh token that is replayed after its grace time, and are not shown to tokens', async () => {
      const { refresh_token } = await service.make.tokens(client, user);
      const live = await service.make.tokens(client, user);
      await refresh(service.http, client, refresh_token);
      await endGrace(service, refresh_token);
      for (let n = 0; n < 3; n++)
        expect((await refresh(service.http, client, refresh_token)).status).toBe(400);
      const stored = (await raisedFor(user)).filter(({ message_id }) => message_id === 'ERR2001');
      expect(stored).toEqual([
        expect.objectContaining({
          client_id: null,
          category: 'ACTIONABLE',
          short_text_body: expect.stringContaining(client.name),
        }),
      ]);
      for (const token of [live.access_token, await service.make.clientToken(client)]) {
        expect((await list('', { bearer: token })).json).toEqual([]);
        expectNotFound(await show(stored[0]!.id, { bearer: token }));
        expectNotFound(await mark(stored[0]!.id, { resolved: true }, { bearer: token }));
      }
    });

    it('are not raised by a refresh token that is used again within its grace time', async () => {
      const { refresh_token } = await service.make.tokens(client, user);
      for (let n = 0; n < 2; n++)
        expect((await refresh(service.http, client, refresh_token)).status).toBe(200);
      expect((await raisedFor(user)).map(({ message_id }) => message_id)).not.toContain('ERR2001');
    });

    it('are raised by the first sign-in from a new browser only, and are not shown to tokens', async () => {
      const owner = await service.make.user();
      const browser = await service.make.signedIn(owner);
      const first = await raisedFor(owner);
      expect(first).toEqual([expect.objectContaining({ client_id: null, message_id: 'ERR2002' })]);
      await browser.submit(await browser.open('/'), '/logout');
      await browser.logIn(owner.email, PASSWORD);
      expect(await raisedFor(owner)).toEqual(first);
      const token = await service.make.clientToken(await service.make.client({ ownerId: owner.id }));
      expectNotFound(await show(first[0]!.id, { bearer: token }));
    });
  });

  it('tell the user about a consent that an operator recorded, and the client concerned may read them', async () => {
    const person = await service.make.user();
    await service.make.consent(client, person);
    expect(await raisedFor(person)).toEqual([
      expect.objectContaining({ client_id: client.id, message_id: 'ERR2003' }),
    ]);
  });
});
