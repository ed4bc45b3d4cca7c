import { SERVICE_ACTOR } from '#records/audit/audit.service.js';
import { ConsentsService } from '#access/consents/consents.service.js';
import type { UserEntity } from '#access/users/accounts/user.entity.js';
import { madeOnce, PARTNER_SCOPES, type TestClient, useSharedService } from '../support/spec.js';
import { linksOf, type Answer, type HttpOptions } from '../support/http.js';
import { rawRequest, sendRaw } from '../support/raw-http.js';

const UNKNOWN_ID = 'user01HN2NJ9NMRZBXT1H6FT9N7735';
const LOWEST_ID = `user${'0'.repeat(26)}`;
const HIGHEST_ID = `user7${'Z'.repeat(25)}`;

describe('/v2/users', () => {
  const service = useSharedService();
  /** Has five users (in the order of their ids), a stranger and a withdrawn one. No test may change it. */
  let bearer: string;
  let users: UserEntity[];
  let stranger: UserEntity;
  let withdrawn: UserEntity;

  const client = madeOnce(() => service.make.client());
  beforeAll(async () => {
    bearer = await service.make.clientToken(client);
    users = await consented(client, 5);
    stranger = (await consented(await service.make.client(), 1))[0]!;
    withdrawn = (await consented(client, 1))[0]!;
    await service.app.get(ConsentsService).revoke(client.id, withdrawn.id, SERVICE_ACTOR);
  });

  /** Creates users who share data with the client, ordered by id. */
  const consented = async (of: TestClient, count: number): Promise<UserEntity[]> => {
    const made: UserEntity[] = [];
    for (let n = 0; n < count; n++) {
      const user = await service.make.user({ password: undefined });
      await service.make.consent(of, user);
      made.push(user);
    }
    return made;
  };
  const list = (query: Record<string, string> = {}, options: HttpOptions = {}): Promise<Answer> =>
    service.http.get(`/v2/users?${new URLSearchParams(query).toString()}`, { bearer, ...options });
  const show = (id: string, options: HttpOptions = {}): Promise<Answer> =>
    service.http.get(`/v2/users/${id}`, { bearer, ...options });
  const idsOf = (answer: Answer): string[] => (answer.json as { id: string }[]).map(({ id }) => id);
  const idsFrom = (from: number, to?: number): string[] => users.slice(from, to).map(({ id }) => id);
  const expectNotFound = (answer: Answer): void => {
    expect(answer.status).toBe(404);
    expect(answer.headers.get('content-type')).toBe('application/problem+json; charset=utf-8');
    expect(answer.headers.get('service-version')).toBe('2');
    expect(answer.json).toMatchObject({
      type: `${service.settings.baseUrl}/v2/problems/not-found/`,
      status: 404,
      title: 'Not found',
    });
  };

  describe('refuses', () => {
    it('a request without credentials, or with a token in the query string', async () => {
      for (const path of ['/v2/users', `/v2/users/${UNKNOWN_ID}`, `/v2/users?access_token=${bearer}`]) {
        const answer = await service.http.get(path);
        expect([answer.status, answer.headers.get('service-version')]).toEqual([401, '2']);
        expect(Object.keys(answer.json)).toEqual(['status', 'title', 'detail']);
        expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer realm="/);
      }
    });

    it('an unsupported Service-Version, but only after authentication', async () => {
      const headers = { 'service-version': '3' };
      for (const answer of [await list({}, { headers }), await show(users[0]!.id, { headers })]) {
        expect([answer.status, answer.json.type]).toEqual([
          400,
          `${service.settings.baseUrl}/v2/problems/unsupported-version/`,
        ]);
      }
      expect((await service.http.get('/v2/users', { headers })).status).toBe(401);
    });

    it.each(['0', '-1', '101', '1.5', '1e1', 'ten', '', ' 5', '9999999999999999'])(
      'the page_size %j, naming the field',
      async (page_size) => {
        const answer = await list({ page_size });
        expect([answer.status, Object.keys(answer.json.field_errors)]).toEqual([400, ['page_size']]);
      },
    );

    it.each(['x', 'user1', "' OR '1'='1", '', `${LOWEST_ID}x`])(
      'the cursor %j, naming the field',
      async (id) => {
        for (const name of ['page_after', 'page_before']) {
          const answer = await list({ [name]: id });
          expect([answer.status, Object.keys(answer.json.field_errors)]).toEqual([400, [name]]);
        }
      },
    );

    it('page_after together with page_before', async () => {
      const answer = await list({ page_after: users[0]!.id, page_before: users[1]!.id });
      expect([answer.status, answer.headers.get('link')]).toEqual([400, null]);
    });

    it('a repeated parameter, and one that contains NUL or invalid encoding', async () => {
      for (const query of ['page_size=1&page_size=2', `page_after=${users[0]!.id}%00`, 'page_size=%zz'])
        expect((await service.http.get(`/v2/users?${query}`, { bearer })).status).toBe(400);
    });

    it('every request for a user who does not share data with the client, always with the same answer', async () => {
      // A client-credentials token belongs to no user.
      const ids = [UNKNOWN_ID, stranger.id, withdrawn.id, 'x', 'me', "'--", users[0]!.id.toLowerCase()];
      const answers = await Promise.all(ids.map((id) => show(id)));
      answers.forEach(expectNotFound);
      expect((await show('%00x')).status).toBe(400);
      expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    });
  });

  describe('with a client-credentials token', () => {
    it('lists every user with an active consent, without email address and name', async () => {
      const answer = await list();
      expect([answer.status, answer.headers.get('link')]).toEqual([200, null]);
      expect(answer.headers.get('service-version')).toBe('2');
      expect(idsOf(answer)).toEqual(idsFrom(0));
      expect(answer.json[0]).toEqual({
        id: users[0]!.id,
        url: `${service.settings.baseUrl}/v2/users/${users[0]!.id}`,
        scopes: PARTNER_SCOPES,
        consented_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string,
      });
    });

    it('shows one user at the URL that the list gives', async () => {
      const listed = (await list()).json[2];
      const answer = await show(users[2]!.id);
      expect([answer.status, answer.json]).toEqual([200, listed]);
      expect((await service.http.get(new URL(listed.url as string).pathname, { bearer })).json).toEqual(
        listed,
      );
    });

    it('shows an empty list to a client without users', async () => {
      const token = await service.make.clientToken(await service.make.client());
      const answer = await list({}, { bearer: token });
      expect([answer.status, answer.text, answer.headers.get('link')]).toEqual([200, '[]', null]);
    });

    it('shows what each user agreed to', async () => {
      const own = await service.make.client();
      const user = await service.make.user();
      await service.make.consent(own, user, ['vehicle:read']);
      const answer = await show(user.id, { bearer: await service.make.clientToken(own) });
      expect(answer.json.scopes).toEqual(['vehicle:read']);
    });

    it('hides a user as soon as the consent is withdrawn, and shows the user again after a new consent', async () => {
      const own = await service.make.client();
      const token = await service.make.clientToken(own);
      const [user] = await consented(own, 1);
      expect((await show(user!.id, { bearer: token })).status).toBe(200);
      await service.app.get(ConsentsService).revoke(own.id, user!.id, SERVICE_ACTOR);
      expectNotFound(await show(user!.id, { bearer: token }));
      expect((await list({}, { bearer: token })).json).toEqual([]);
      await service.make.consent(own, user!, ['vehicle:read']);
      expect((await show(user!.id, { bearer: token })).json.scopes).toEqual(['vehicle:read']);
    });
  });

  describe('with the token of a user', () => {
    it('shows only that user, with email address and name, at /v2/users/me as one object, also to a browser of another origin', async () => {
      const own = await service.make.client();
      const user = await service.make.user({ name: 'Dana Driver' });
      const [other] = await consented(own, 1);
      const { access_token } = await service.make.tokens(own, user, 'vehicle:read');
      const expected = {
        id: user.id,
        url: `${service.settings.baseUrl}/v2/users/${user.id}`,
        email: user.email,
        name: 'Dana Driver',
        scopes: ['vehicle:read'],
        consented_at: expect.stringMatching(/Z$/) as string,
      };
      const listed = await list({}, { bearer: access_token });
      expect([listed.json, listed.headers.get('link')]).toEqual([[expected], null]);
      expect((await show(user.id, { bearer: access_token })).json).toEqual(expected);
      const self = await show('me', { bearer: access_token, headers: { origin: 'https://app.example' } });
      expect([self.status, self.json]).toEqual([200, expected]);
      const headers = ['service-version', 'access-control-allow-origin'].map((name) =>
        self.headers.get(name),
      );
      expect(headers).toEqual(['2', '*']);
      expectNotFound(await show(other!.id, { bearer: access_token }));
      await service.app.get(ConsentsService).revoke(own.id, user.id, SERVICE_ACTOR);
      for (const id of [user.id, 'me']) expect((await show(id, { bearer: access_token })).status).toBe(401);
    });
  });

  describe('as a paged list', () => {
    it('can be read forwards and backwards by absolute links, which are left out at the ends', async () => {
      const follow = (url: string): Promise<Answer> => {
        expect(url.startsWith(`${service.settings.baseUrl}/v2/users?`)).toBe(true);
        expect(new URL(url).searchParams.get('page_size')).toBe('2');
        return service.http.get(url, { bearer });
      };
      const first = await list({ page_size: '2' });
      const second = await follow(linksOf(first).next!);
      const third = await follow(linksOf(second).next!);
      expect([first, second, third].map(idsOf)).toEqual([idsFrom(0, 2), idsFrom(2, 4), idsFrom(4)]);
      expect([first, second, third].map((page) => Object.keys(linksOf(page)))).toEqual([
        ['next'],
        ['next', 'previous'],
        ['previous'],
      ]);
      const back = await follow(linksOf(third).previous!);
      expect([idsOf(back), linksOf(back)]).toEqual([idsFrom(2, 4), linksOf(second)]);
      const start = await follow(linksOf(back).previous!);
      expect([idsOf(start), linksOf(start)]).toEqual([idsFrom(0, 2), linksOf(first)]);
    });

    it('links to the public address, whatever host the request line names', async () => {
      for (const host of ['http://evil.example', 'HTTPS://evil.example:8443', 'http://evil@evil.example']) {
        const line = `GET ${host}/v2/users?page_size=2`;
        const request = rawRequest(line, { Authorization: `Bearer ${bearer}` });
        const { status, headers } = await sendRaw(service.url, request);
        expect([status, headers.get('link')]).toEqual([
          200,
          `<${service.settings.baseUrl}/v2/users?page_size=2&page_after=${users[1]!.id}>; rel="next"`,
        ]);
      }
    });

    it('has no next link when the last page is exactly full', async () => {
      for (const page_size of ['5', '100'])
        expect((await list({ page_size })).headers.get('link')).toBeNull();
      const last = await list({ page_size: '2', page_after: users[2]!.id });
      expect([idsOf(last), Object.keys(linksOf(last))]).toEqual([idsFrom(3), ['previous']]);
    });

    it('has 25 users per page by default', async () => {
      const big = await service.make.client();
      await consented(big, 26);
      const token = await service.make.clientToken(big);
      const first = await list({}, { bearer: token });
      expect(idsOf(first)).toHaveLength(25);
      const second = await service.http.get(linksOf(first).next!, { bearer: token });
      expect([idsOf(second).length, Object.keys(linksOf(second))]).toEqual([1, ['previous']]);
    });

    it('leaves a disabled user out, alone and in the list, until the user is enabled again', async () => {
      const own = await service.make.client();
      const token = await service.make.clientToken(own);
      const [first, second] = await consented(own, 2);
      await service.make.setEnabled(first!, false);
      expect(idsOf(await list({}, { bearer: token }))).toEqual([second!.id]);
      expectNotFound(await show(first!.id, { bearer: token }));
      await service.make.setEnabled(first!, true);
      expect(idsOf(await list({}, { bearer: token }))).toEqual([first!.id, second!.id]);
      expect((await show(first!.id, { bearer: token })).status).toBe(200);
    });

    it('continues after a cursor whose user has withdrawn consent', async () => {
      const own = await service.make.client();
      const token = await service.make.clientToken(own);
      const made = await consented(own, 3);
      await service.app.get(ConsentsService).revoke(own.id, made[1]!.id, SERVICE_ACTOR);
      expect(idsOf(await list({ page_after: made[1]!.id }, { bearer: token }))).toEqual([made[2]!.id]);
      expect(idsOf(await list({ page_before: made[1]!.id }, { bearer: token }))).toEqual([made[0]!.id]);
    });

    it.each([
      ['previous link when no user precedes', { page_after: LOWEST_ID }],
      ['next link when no user follows', { page_before: HIGHEST_ID }],
    ])('has no %s the page', async (_what, query) => {
      const answer = await list(query);
      expect([idsOf(answer), linksOf(answer)]).toEqual([idsFrom(0), {}]);
    });

    it('is empty beyond either end', async () => {
      for (const [name, id] of [
        ['page_after', HIGHEST_ID],
        ['page_before', LOWEST_ID],
      ] as const) {
        const answer = await list({ [name]: id });
        expect([answer.status, answer.json, answer.headers.get('link')]).toEqual([200, [], null]);
      }
    });
  });
});
