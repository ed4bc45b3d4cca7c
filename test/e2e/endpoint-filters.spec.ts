import type { Condition } from '#events/webhooks/filters/condition.js';
import { postedAnew, type TestClient, until, useSharedService } from '../support/spec.js';
import { idsOf, nextOf, session } from '../support/event-feed.js';
import { madeForEach, madeOnce } from '../support/made.js';
import { enterPortal, errorAt, wordsOf } from '../support/portal.js';
import { TYPE, WEBHOOK_ENV, Webhooks } from '../support/webhooks.js';

const UPDATED = 'charging_session.updated';
const DATA = { ...session('cs-1').data, energy_kwh: 7.5, vehicle_id: 'it\'s "a" \\ car' };
const when = (path: string, operator: string, value?: unknown) => ({ path, operator, value });

/* Contract §22: an endpoint gets only the events for which all of its conditions hold. */
describe('The filters of an endpoint', () => {
  const service = useSharedService({ env: WEBHOOK_ENV });
  const webhooks = madeOnce(() => Webhooks.start(service));
  const client = madeForEach(() => service.make.client());
  const user = madeForEach(() => webhooks.consentedUser(client));

  const query = <T>(sql: string, params: unknown[] = []) => service.database.query<T>(sql, params);
  const create = (json: object, of: TestClient = client) => webhooks.add(of, json);
  const patch = (id: string, json: object) => webhooks.change(id, json);
  const withFilters = async (...filters: object[]): Promise<string> => {
    const answer = await create({ filters });
    expect([answer.status, answer.json.field_errors]).toEqual([201, undefined]);
    return answer.json.id as string;
  };
  const errorsOf = (answer: { json: Record<string, unknown> }) =>
    answer.json.field_errors as Record<string, string[]>;
  const publish = async (data: object = DATA, type = TYPE): Promise<string> => {
    const answer = await webhooks.publish(user.id, { type, data });
    expect(answer.status).toBe(202);
    return answer.json.id as string;
  };
  const sentTo = async (eventId: string): Promise<string[]> =>
    (await webhooks.deliveriesOf(eventId)).map(({ endpoint_id: id }) => id);

  describe('are refused', () => {
    const kept = madeOnce(() => service.make.client());

    it.each<[string, unknown, string]>([
      ['what is no list', {}, 'filters'],
      ['null', null, 'filters'],
      ['21 conditions', Array.from({ length: 21 }, () => when('data.id', 'exists')), 'filters'],
      ['a list that is too long', [when('data.id', 'in', Array(50).fill('x'.repeat(255)))], 'filters'],
      ['a text in the list', ['data.id'], 'filters'],
      ['a path that no type has', [when('data.energy_wh', 'exists')], 'filters.0.path'],
      ['a member of objects in JavaScript', [when('data.constructor', 'exists')], 'filters.0.path'],
      ['an empty path', [when('', 'exists')], 'filters.0.path'],
      ['a path with an empty name', [when('data..id', 'exists')], 'filters.0.path'],
      ['a path in jsonpath', [when('data.*', 'exists')], 'filters.0.path'],
      ['a path that is a number', [when(3 as never, 'exists')], 'filters.0.path'],
      ['an unknown operator', [when('data.id', 'like_regex', 'x')], 'filters.0.operator'],
      ['an unknown member', [{ ...when('data.id', 'equals', 'x'), not: true }], 'filters.0.not'],
      ['greater for a text', [when('data.id', 'greater', 'x')], 'filters.0.operator'],
      ['starts_with for a number', [when('data.energy_kwh', 'starts_with', '7')], 'filters.0.operator'],
      ['a number for a text', [when('data.id', 'equals', 5)], 'filters.0.value'],
      ['a text for a number', [when('data.energy_kwh', 'equals', '5')], 'filters.0.value'],
      ['null for a number', [when('data.energy_kwh', 'not_equals', null)], 'filters.0.value'],
      ['an object', [when('data.id', 'equals', { $ne: 1 })], 'filters.0.value'],
      ['a list for equals', [when('data.id', 'equals', ['x'])], 'filters.0.value'],
      ['no list for in', [when('data.id', 'in', 'x')], 'filters.0.value'],
      ['an empty list', [when('data.id', 'in', [])], 'filters.0.value'],
      ['51 values', [when('data.id', 'in', Array(51).fill('x'))], 'filters.0.value'],
      ['a list of numbers for a text', [when('data.id', 'in', ['x', 5])], 'filters.0.value'],
      ['a list in a list', [when('data.id', 'in', [['x']])], 'filters.0.value'],
      ['a text of 256 characters', [when('data.id', 'equals', 'x'.repeat(256))], 'filters.0.value'],
      ['an empty beginning', [when('data.id', 'starts_with', '')], 'filters.0.value'],
      ['no value', [when('data.id', 'equals')], 'filters.0.value'],
      ['a text for exists', [when('data.id', 'exists', 'yes')], 'filters.0.value'],
      ['the second one', [when('data.id', 'exists'), when('data.id', 'less', 1)], 'filters.1.operator'],
    ])('%s', async (_what, filters, member) => {
      const answer = await create({ filters }, kept);
      expect([answer.status, Object.keys(errorsOf(answer))]).toEqual([400, [member]]);
    });

    it('with what there is', async () => {
      const unknown = await create({ filters: [when('data.energy_wh', 'greater', 5)] }, kept);
      expect(errorsOf(unknown)['filters.0.path']![0]).toMatch(/^is in no event of these types: there is /);
      expect(errorsOf(unknown)['filters.0.path']![0]).toContain('data.energy_kwh');
      const text = await create({ filters: [when('data.id', 'greater', 5)] }, kept);
      expect(errorsOf(text)['filters.0.operator']).toEqual(['greater is not for data.id, which is a text']);
      const number = await create({ filters: [when('data.energy_kwh', 'equals', '5')] }, kept);
      expect(errorsOf(number)['filters.0.value']).toEqual(['must be a number']);
    });

    it('when the types change so that no event has the member any more', async () => {
      const id = (await create({ filters: [when('data.energy_kwh', 'exists')] }, kept)).json.id as string;
      const types = { event_types: ['vehicle.updated'] };
      const answer = await patch(id, types);
      expect([answer.status, Object.keys(errorsOf(answer))]).toEqual([400, ['filters.0.path']]);
      expect((await patch(id, { ...types, filters: [] })).status).toBe(200);
    });
  });

  it('hold or do not hold, by operator, and never by what a value would mean as a pattern', async () => {
    const conditions: [condition: object, holds: boolean][] = [
      [when('data.id', 'equals', 'cs-1'), true],
      [when('data.id', 'equals', 'cs-2'), false],
      [when('data.id', 'not_equals', 'cs-2'), true],
      [when('data.id', 'not_equals', 'cs-1'), false],
      [when('data.id', 'in', ['a', 'cs-1']), true],
      [when('data.id', 'in', ['a', 'b']), false],
      [when('data.id', 'starts_with', 'cs-'), true],
      [when('data.id', 'starts_with', 's-'), false],
      [when('data.energy_kwh', 'equals', 7.5), true],
      [when('data.energy_kwh', 'in', [1, 7.5]), true],
      [when('data.energy_kwh', 'greater', 7.4), true],
      [when('data.energy_kwh', 'greater', 7.5), false],
      [when('data.energy_kwh', 'at_least', 7.5), true],
      [when('data.energy_kwh', 'less', 7.5), false],
      [when('data.energy_kwh', 'less', 1e21), true],
      [when('data.energy_kwh', 'at_most', 7.5), true],
      [when('data.energy_kwh', 'greater', -7.5), true],
      [when('data.energy_kwh', 'exists'), true],
      [when('data.energy_kwh', 'exists', false), false],
      // What the event lacks.
      [when('data.unplugged_at', 'exists'), false],
      [when('data.unplugged_at', 'exists', false), true],
      [when('data.unplugged_at', 'not_equals', 'x'), false],
      [when('data.power_kw', 'less', 1000), false],
      // Text is text.
      [when('data.vehicle_id', 'equals', DATA.vehicle_id), true],
      [when('data.vehicle_id', 'equals', '" || exists($) || $.data.id == "'), false],
      [when('data.vehicle_id', 'starts_with', 'it\'s "'), true],
      [when('data.id', 'equals', 'cs.1'), false],
      [when('data.id', 'starts_with', 'cs%'), false],
      [when('user_id', 'equals', user.id), true],
      [when('user_id', 'equals', 'user01HN2NJ9NMRZBXT1H6FT9N7735'), false],
      [when('type', 'equals', TYPE), true],
    ];
    const expected = new Map<string, object>();
    const others = new Map<string, object>();
    for (const [condition, holds] of conditions)
      (holds ? expected : others).set(await withFilters(condition), condition);
    const all = await withFilters(when('data.id', 'exists'), when('data.energy_kwh', 'greater', 5));
    expected.set(all, {});
    others.set(await withFilters(when('data.id', 'exists'), when('data.energy_kwh', 'greater', 8)), {});
    const { json } = await webhooks.publish(user.id, { data: DATA });
    const sent = await sentTo(json.id as string);
    expect(sent.map((id) => expected.get(id) ?? others.get(id))).toEqual(
      [...expected].toSorted(([a], [b]) => sent.indexOf(a) - sent.indexOf(b)).map(([, each]) => each),
    );
    expect(json.deliveries).toBe(expected.size);
  });

  it('do not hold for a member of another kind than its schema says, and hold for a list of which one member does', async () => {
    const is = await withFilters(when('data.id', 'equals', 'cs-1'));
    const isNot = await withFilters(when('data.id', 'not_equals', 'cs-2'));
    const more = await withFilters(when('data.energy_kwh', 'greater', 1));
    expect(await sentTo(await publish({ id: 5, energy_kwh: '7' }))).toEqual([isNot]);
    expect((await sentTo(await publish({ id: ['cs-1', 'x'], energy_kwh: [0, 2] }))).sort()).toEqual(
      [is, isNot, more].sort(),
    );
    expect(await sentTo(await publish({ id: ['cs-2', 'x'] }))).toEqual([]);
    expect(await sentTo(await publish({ id: { a: 1 }, energy_kwh: null }))).toEqual([isNot]);
  });

  it('are for what this service publishes itself too, and not for tests', async () => {
    const TYPES = { event_types: ['user.consent_revoked'] };
    const mine = [when('data.client_id', 'equals', client.id)];
    const [yes, no] = [
      (await create({ ...TYPES, filters: mine })).json.id as string,
      (await create({ ...TYPES, filters: [when('data.client_id', 'equals', 'another')] })).json.id as string,
    ];
    await service.make.revokeConsent(client, user);
    const portal = await enterPortal(service, client);
    const path = `/portal/endpoints/${no}/test`;
    await portal.submit(await portal.open(path), path);
    const rows = await query<{ endpoint_id: string; test: boolean }>(
      'SELECT d.endpoint_id, e.test FROM deliveries d JOIN events e ON e.id = d.event_id WHERE d.client_id = $1',
      [client.id],
    );
    expect(rows).toContainEqual({ endpoint_id: no, test: true });
    expect(rows.filter(({ test }) => !test)).toEqual([{ endpoint_id: yes, test: false }]);
  });

  it('leave out of what was missed what they would not have sent', async () => {
    const id = await withFilters(when('data.energy_kwh', 'greater', 5));
    await patch(id, { enabled: false });
    const [sent, left] = [await publish(), await publish({ ...DATA, energy_kwh: 1 })];
    await patch(id, { enabled: true });
    const portal = await enterPortal(service, client);
    const path = `/portal/endpoints/${id}`;
    await portal.submit(await portal.open(path), `${path}/missed`);
    await until('what was missed is sent', async () => (await sentTo(sent)).length === 1);
    expect(await sentTo(left)).toEqual([]);
  });

  it('are shown as they were written, are recorded, and end with an empty list', async () => {
    const filters = [when('data.id', 'exists', true), when('data.energy_kwh', 'in', [1, 2])];
    const id = await withFilters(...filters);
    const shown = await service.http.get(`/admin/webhook_endpoints/${id}`, { bearer: webhooks.bearer });
    expect(shown.text).toContain(`"filters":${JSON.stringify(filters)}`);
    expect((await patch(id, { filters: [] })).json.filters).toEqual([]);
    const [event] = await query<{ before: unknown; after: unknown }>(
      "SELECT before, after FROM audit_events WHERE action = 'webhook_endpoint.updated' AND subject_id = $1",
      [id],
    );
    expect(event).toEqual({ before: { filters }, after: { filters: [] } });
    expect(await sentTo(await publish({ id: 'anything' }))).toEqual([id]);
  });

  describe('of the feed', () => {
    const read = async (filters: unknown, more = '') =>
      service.http.get(
        `/v2/events?${new URLSearchParams({
          filters: typeof filters === 'string' ? filters : JSON.stringify(filters),
        }).toString()}${more}`,
        { bearer: await service.make.clientToken(client) },
      );

    it.each<[string, unknown, string]>([
      ['what is no JSON', '[{', 'filters'],
      ['an object', {}, 'filters'],
      ['an unknown path', [when('data.nothing', 'exists')], 'filters.0.path'],
      [
        'the member of a type that the token does not allow',
        [when('data.expires', 'exists')],
        'filters.0.path',
      ],
      ['a wrong value', [when('data.id', 'equals', 5)], 'filters.0.value'],
    ])('are refused: %s', async (_what, filters, member) => {
      const answer = await read(filters);
      expect([answer.status, Object.keys(errorsOf(answer))]).toEqual([400, [member]]);
    });

    it('are refused with text that cannot be stored', async () => {
      expect((await read('[{"path":"data.id","operator":"equals","value":"\\u0000"}]')).status).toBe(400);
      expect((await read('[{"path":"data.id","operator":"equals","value":"\\ud800"}]')).status).toBe(400);
    });

    it('leave out the rest, from page to page, and what endpoints do not get is there without them', async () => {
      await withFilters(when('data.energy_kwh', 'greater', 100));
      const ids: string[] = [];
      for (const energy of [1, 6, 2, 7, 8]) ids.push(await publish({ ...DATA, energy_kwh: energy }));
      const shown = async (answer: () => ReturnType<typeof read>, count: number) => {
        let found: string[] = [];
        await until('the events are shown', async () => (found = idsOf(await answer())).length === count);
        return found;
      };
      const filters = [when('data.energy_kwh', 'greater', 5)];
      expect(await shown(() => read(filters), 3)).toEqual([ids[1], ids[3], ids[4]]);
      expect(await shown(() => read([when('data.energy_kwh', 'exists')]), 5)).toEqual(ids);
      const first = await read(filters, '&page_size=2');
      const bearer = await service.make.clientToken(client);
      const second = await service.http.get(`/v2/events${nextOf(first)}`, { bearer });
      expect([idsOf(first), idsOf(second)]).toEqual([[ids[1], ids[3]], [ids[4]]]);
    });
  });

  describe('in the portal', () => {
    const portal = madeForEach(() => enterPortal(service, client));
    const row = (place: number, path: string, operator: string, value: string) => ({
      [`filters.${place}.path`]: path,
      [`filters.${place}.operator`]: operator,
      [`filters.${place}.value`]: value,
    });
    const save = async (id: string, fields: Record<string, string>) => {
      const path = `/portal/endpoints/${id}/edit`;
      return portal.submit(await portal.open(path), path, { ...postedAnew(), ...fields });
    };
    const filtersOf = async (id: string): Promise<Condition[]> =>
      (await query<{ filters: Condition[] }>('SELECT filters FROM webhook_endpoints WHERE id = $1', [id]))[0]!
        .filters;

    it('are picked from the schemas, and typed values become what the members are', async () => {
      const { id } = await webhooks.endpoint(client, { types: [TYPE, UPDATED] });
      const page = await portal.open(`/portal/endpoints/${id}/edit`);
      expect(wordsOf(page)).toContain('data.energy_kwh (number)');
      const saved = await save(id, {
        ...row(0, 'data.energy_kwh', 'in', '5, 7.5'),
        ...row(1, 'data.id', 'in', '["5", "a, b"]'),
        ...row(2, 'data.id', 'not_equals', 'null'),
        ...row(3, 'data.id', 'exists', ''),
      });
      expect(saved.status).toBe(303);
      const filters = [
        when('data.energy_kwh', 'in', [5, 7.5]),
        when('data.id', 'in', ['5', 'a, b']),
        when('data.id', 'not_equals', 'null'),
        when('data.id', 'exists', true),
      ];
      expect(await filtersOf(id)).toEqual(filters);
      // Saved again as shown: nothing changes.
      expect((await save(id, { description: 'x' })).status).toBe(303);
      expect(await filtersOf(id)).toEqual(filters);
    });

    it('are shown with their errors beside what was typed, and nothing is saved', async () => {
      const { id } = await webhooks.endpoint(client);
      const page = await save(id, row(0, 'data.energy_kwh', 'greater', 'five'));
      expect([page.status, errorAt(page, 'filter-0-value')]).toEqual([400, 'Must be a number.']);
      expect(page.html.querySelector('#filter-0-value')!.getAttribute('value')).toBe('five');
      expect(await filtersOf(id)).toEqual([]);
    });

    it('are tried with the last events, each with why, and nothing is saved', async () => {
      const { id } = await webhooks.endpoint(client);
      const sent = await publish();
      const left = await publish({ ...DATA, energy_kwh: 1 });
      const other = await service.make.client();
      const stranger = await webhooks.consentedUser(other);
      await webhooks.publish(stranger.id, { data: DATA });
      const tried = row(0, 'data.energy_kwh', 'greater', '5');
      let words = '';
      await until('both are settled', async () => {
        words = wordsOf(await save(id, { ...tried, do: 'try' }));
        return words.includes('Of the last 2 events');
      });
      expect(words).toContain('Of the last 2 events 1 would have been sent.');
      expect(words).toMatch(new RegExp(`${left}\\s*Not sent\\s*Not true: data.energy_kwh is greater than 5`));
      expect(words).toMatch(new RegExp(`${sent}\\s*Sent\\s*All conditions hold`));
      expect(await filtersOf(id)).toEqual([]);
      const wrong = await save(id, { ...row(0, 'data.id', 'greater', '5'), do: 'try' });
      expect([wrong.status, errorAt(wrong, 'filter-0-operator')]).toEqual([
        400,
        'Greater is not for data.id, which is a text.',
      ]);
    });

    it('are on the page of the endpoint, and of a new one', async () => {
      const path = '/portal/endpoints/new';
      const added = await portal.submit(await portal.open(path), path, {
        url: webhooks.receiver.url(),
        event_types: TYPE,
        ...row(0, 'data.state', 'equals', 'ended'),
      });
      expect(added.status).toBe(303);
      expect(wordsOf(await portal.open(added.headers.get('location')!))).toContain('data.state is ended');
    });
  });

  it('are JSON in the console, with errors at the field', async () => {
    const { id } = await webhooks.endpoint(client);
    const path = `/admin/console/endpoints/${id}`;
    const operator = await service.make.signedInNew({ role: 'operator' });
    const save = async (filters: string) =>
      operator.submit(await operator.open(`${path}/edit`), `${path}/edit`, { filters });
    for (const [typed, error] of [
      ['{', 'Must be a list of at most 20 conditions'],
      ['[{"path":"data.x","operator":"exists"}]', 'Path 1: is in no event of these types'],
    ] as const) {
      const page = await save(typed);
      expect([page.status, errorAt(page, 'filters')]).toEqual([400, expect.stringContaining(error)]);
    }
  });
});
