import { type Answer, type HttpOptions, membersIn } from '../support/http.js';
import { madeForEach, madeOnce, rowCounts, unexpectedErrors, useSharedService } from '../support/spec.js';
import { listOf } from '../support/list-of.js';

const UNKNOWN_USER = 'user01HN2NJ9NMRZBXT1H6FT9N7735';
const UNKNOWN_CLIENT = 'clnt01HN2NJ9NMRZBXT1H6FT9N7735';
const REQUIRED = {
  message_id: 'ERR4711',
  category: 'SERVICE',
  short_text_title: 'Maintenance',
  short_text_body: 'On Sunday from 2 to 4.',
};
const LINK = 'https://status.example/';

/** Each member with values that are not allowed for it. */
const BAD: [member: string, values: unknown[]][] = [
  [
    'user_id',
    [undefined, null, '', 1, 'user1', UNKNOWN_CLIENT, UNKNOWN_USER, `${UNKNOWN_USER}x`, { id: UNKNOWN_USER }],
  ],
  ['client_id', ['', 1, 'clnt1', UNKNOWN_USER, UNKNOWN_CLIENT, `${UNKNOWN_CLIENT}\n`]],
  [
    'message_id',
    [
      undefined,
      null,
      '',
      1,
      'ERR',
      'err1',
      'ERRx',
      'ERR1 ',
      'ERR1\n',
      'XERR1',
      'ERR1.5',
      'ERR\u0661',
      `ERR${'1'.repeat(11)}`,
    ],
  ],
  ['category', [undefined, null, '', 'service', 'URGENT', 'SERVICE ', ['SERVICE'], 0]],
  [
    'event_time',
    [
      null,
      '',
      'now',
      1769846400,
      '2026-01-31T08:00:00',
      '2026-02-30T08:00:00Z',
      '2026-01-31T25:00:00Z',
      '31.01.2026',
      '+012026-01-31T08:00:00Z',
    ],
  ],
  ['short_text_title', [undefined, null, '', '   ', '\u200b', 'x'.repeat(201), '🔌'.repeat(201), 1, ['x']]],
  ['short_text_body', [undefined, null, '', '\n\t', 'x'.repeat(1001), {}]],
  ['detail_page_title', [null, '', ' ', 'x'.repeat(201), 1]],
  ['detail_page_body', [null, '', 'x'.repeat(10_001), []]],
  [
    'external_link',
    [
      '',
      'javascript:alert(1)',
      'JavaScript:alert(1)',
      ' javascript:alert(1)',
      'java\nscript:alert(1)',
      'data:text/html,x',
      'vbscript:x',
      'file:///etc/passwd',
      'ftp://x.example',
      '//evil.example',
      '/path',
      'x.example',
      'https://',
      'https:///x',
      'https:x.example',
      'http://[',
      `https://x.example/${'x'.repeat(2000)}`,
      1,
      {},
    ],
  ],
  ['external_button_label', [null, '', ' ', 'x'.repeat(101), true]],
  ['resolved_at', ['2026-01-31T08:00:00Z']],
  ['read_at', ['2026-01-31T08:00:00Z']],
  ['id', ['notf01HN2NJ9NMRZBXT1H6FT9N7735']],
  ['resolve_at', ['2026-01-31T08:00:00Z']],
];

describe('The admin API for notifications', () => {
  const service = useSharedService();
  let admin: string;

  const adminClient = madeOnce(() => service.make.operatorClient());
  beforeAll(async () => (admin = await service.make.clientToken(adminClient)));
  const user = madeOnce(() => service.make.user());
  const client = madeOnce(() => service.make.client());

  const post = (fields: Record<string, unknown> = {}, options: HttpOptions = {}) =>
    service.http.send('/admin/notifications', {
      bearer: admin,
      json: { user_id: user.id, ...REQUIRED, ...fields },
      ...options,
    });
  const list = (query = '') => service.http.get(`/admin/notifications${query}`, { bearer: admin });
  const idsOf = (answer: Answer) => (answer.json as { id: string }[]).map(({ id }) => id);

  describe('refuses', () => {
    it.each(BAD)('an invalid %s, naming only that member, and creates nothing', async (member, values) => {
      const before = await rowCounts(service);
      const logged = service.log.length;
      for (const value of values) {
        const answer = await post({ [member]: value });
        expect([value, answer.status, answer.json?.field_errors]).toEqual([
          value,
          400,
          { [member]: [expect.stringMatching(/^(must be|is not) \w/)] },
        ]);
      }
      expect(await rowCounts(service)).toEqual(before);
      expect(unexpectedErrors(service, logged)).toEqual([]);
    });

    it('NUL and unpaired surrogates in any text', async () => {
      for (const member of listOf(`
        short_text_title, short_text_body, detail_page_body, external_link, external_button_label
      `)) {
        for (const text of ['a\u0000b', 'a\ud800b']) {
          const answer = await post({ [member]: `https://x.example/${text}` });
          expect([member, answer.status]).toEqual([member, 400]);
        }
      }
    });

    it.each(['user_id=x', `client_id=${UNKNOWN_USER}`, 'page_size=0', 'page_after=x', 'q=x', 'user_id='])(
      'the query %s, naming the parameter',
      async (query) => {
        const answer = await list(`?${query}`);
        expect([answer.status, membersIn(answer)]).toEqual([400, [query.split('=')[0]]]);
      },
    );
  });

  describe('creates', () => {
    it('a notification with only the required members, for the user alone', async () => {
      const before = Date.now();
      const answer = await post();
      const { id } = answer.json as { id: string };
      expect(answer.status).toBe(201);
      expect(answer.json).toEqual({
        id: expect.stringMatching(/^notf[0-9A-HJKMNP-TV-Z]{26}$/),
        url: `${service.settings.baseUrl}/notifications/${id}`,
        ...REQUIRED,
        event_time: expect.stringMatching(/Z$/),
        external_link: null,
        user_id: user.id,
        client_id: null,
      });
      const time = Date.parse(answer.json.event_time as string);
      expect([time >= before, time <= Date.now()]).toEqual([true, true]);
      const { access_token } = await service.make.tokens(client, user);
      expect((await service.http.get(`/notifications/${id}`, { bearer: access_token })).status).toBe(404);
    });

    it('a notification with every member at its maximum length, unchanged', async () => {
      const full = {
        user_id: user.id,
        client_id: client.id,
        message_id: `ERR${'9'.repeat(10)}`,
        category: 'MARKETING',
        event_time: '2026-01-31T08:00:00.000Z',
        short_text_title: '🔌'.repeat(200),
        short_text_body: 'ß'.repeat(1000),
        detail_page_title: 'x'.repeat(200),
        detail_page_body: '<script>alert(1)</script>\n'.padEnd(10_000, 'x'),
        external_link: LINK.padEnd(2000, 'x'),
        external_button_label: 'x'.repeat(100),
      };
      const answer = await post(full);
      expect(answer.status).toBe(201);
      expect(answer.json).toMatchObject(full);
      const { access_token } = await service.make.tokens(client, user);
      const shown = await service.http.get('/notifications', { bearer: access_token });
      expect(shown.json).toContainEqual(expect.objectContaining({ detail_page_body: full.detail_page_body }));
    });

    it.each(['ACTIONABLE', 'SERVICE', 'RETRY', 'MARKETING', 'INTERNAL'])(
      'a notification of the category %s',
      async (category) => expect((await post({ category })).json.category).toBe(category),
    );

    it.each([
      ['2026-01-31T08:00:00Z', '2026-01-31T08:00:00.000Z'],
      ['2026-01-31T08:00:00.5+02:00', '2026-01-31T06:00:00.500Z'],
    ])('a notification with the time %s', async (event_time, expected) =>
      expect((await post({ event_time })).json.event_time).toBe(expected),
    );

    it.each(['0000-01-01T00:00:00Z', '0001-01-01T00:00:00+14:00', '9999-12-31T23:59:59Z'])(
      'or refuses a notification with the unusual time %s, and the list stays readable',
      async (event_time) => {
        expect([201, 400]).toContain((await post({ event_time })).status);
        const answer = await list(`?user_id=${user.id}`);
        expect(answer.status).toBe(200);
        for (const { event_time: shown } of answer.json as { event_time: string }[])
          expect(shown).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      },
    );

    it.each([null, 'http://help.example', 'HTTPS://Help.Example/x', 'https://hälp.example/ü?q=ä'])(
      'a notification with the link %j',
      async (external_link) => {
        const answer = await post({ external_link });
        expect([answer.status, answer.json.external_link]).toEqual([201, external_link]);
      },
    );

    it('an audit event for each notification with actor, recipient and kind, but without its text', async () => {
      const { id } = (await post({ client_id: client.id })).json as { id: string };
      const answer = await service.http.get(`/admin/audit_events?subject=${id}`, { bearer: admin });
      expect(answer.json).toHaveLength(1);
      expect(answer.json[0]).toMatchObject({ action: 'notification.raised' });
      const [row] = await service.database.query(
        'SELECT actor_type, actor_id, subject_type, address, before, after FROM audit_events WHERE subject_id = $1',
        [id],
      );
      expect(row).toEqual({
        actor_type: 'client',
        actor_id: adminClient.id,
        subject_type: 'notification',
        address: '127.0.0.1',
        before: null,
        after: { user_id: user.id, message_id: 'ERR4711', category: 'SERVICE' },
      });
    });
  });

  describe('lists notifications', () => {
    const user = madeForEach(() => service.make.user());
    const client = madeForEach(() => service.make.client());
    const raise = (fields: Record<string, unknown> = {}) => post({ user_id: user.id, ...fields });

    it('newest first with their recipients, and filters by user and client', async () => {
      const other = await service.make.user();
      const raised: string[] = [];
      for (const [user_id, client_id] of [
        [user.id, client.id],
        [user.id, null],
        [other.id, client.id],
      ]) {
        raised.unshift((await raise({ user_id, client_id })).json.id as string);
      }
      const all = await list('?page_size=100');
      expect(idsOf(all).filter((id) => raised.includes(id))).toEqual(raised);
      expect(all.json.find(({ id }: { id: string }) => id === raised[0])).toMatchObject({
        user_id: other.id,
        client_id: client.id,
      });
      expect(idsOf(await list(`?user_id=${user.id}`))).toEqual(raised.slice(1));
      expect(idsOf(await list(`?client_id=${client.id}`))).toEqual([raised[0], raised[2]]);
      expect(idsOf(await list(`?client_id=${client.id}&user_id=${user.id}`))).toEqual([raised[2]]);
      expect((await list(`?user_id=${UNKNOWN_USER}`)).json).toEqual([]);
    });

    it('in pages, with links that keep the filter', async () => {
      const raised: string[] = [];
      for (let n = 0; n < 3; n++) raised.unshift((await raise()).json.id as string);
      const first = await list(`?user_id=${user.id}&page_size=2`);
      const [, next] = /<([^>]+)>; rel="next"/.exec(first.headers.get('link')!)!;
      expect(new URL(next!).searchParams.get('user_id')).toBe(user.id);
      const second = await service.http.get(next!.slice(service.settings.baseUrl.length), { bearer: admin });
      expect([...idsOf(first), ...idsOf(second)]).toEqual(raised);
      expect(second.headers.get('link')).toMatch(/rel="previous"/);
      expect(second.headers.get('link')).not.toMatch(/rel="next"/);
    });

    it('except those of an erased user or a deleted client', async () => {
      const { id } = (await raise({ client_id: client.id })).json as { id: string };
      const erased = await service.http.send(`/admin/clients/${client.id}`, {
        method: 'DELETE',
        bearer: admin,
      });
      expect(erased.status).toBe(204);
      expect(idsOf(await list('?page_size=100'))).not.toContain(id);
    });
  });
});
