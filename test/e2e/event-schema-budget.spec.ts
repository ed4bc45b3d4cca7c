import { setUpEventTypes } from '../support/event-types.js';

describe('A schema that could keep the service busy', () => {
  const own = setUpEventTypes();
  const { admin, newType, publishAt } = own;

  it.each([
    ['a name that objects inherit as its format', JSON.parse('{"format":"__proto__"}'), /unknown format/],
    ['another one', { format: 'valueOf' }, /unknown format/],
    ['a pattern that looks ahead', { pattern: '^(?=a)a$' }, /pattern must be a regular expression/],
    ['a pattern that multiplies', { pattern: '^(?:[a-z]{100}){100}$' }, /pattern is too large/],
  ])('is refused when it is registered with %s', async (_what, part, reason) => {
    const name = await newType();
    const schema = { type: 'object', properties: { code: part as object } };
    const answer = await admin('PUT', `/${name}/versions/2`, { schema });
    expect(answer.status).toBe(400);
    expect((answer.json.field_errors as { schema: string[] }).schema.join()).toMatch(reason);
    const published = await publishAt(own.service.instances[0]!, { type: name, data: { id: '1' } });
    expect(published.status).toBe(202);
  });

  it('counts data that is too much to check as breaking it, and others go on', async () => {
    const name = await newType(
      {},
      {
        type: 'object',
        properties: {
          id: { type: 'string' },
          list: { items: { not: { enum: Array.from({ length: 900 }, String) } } },
        },
      },
    );
    const publish = (list: string[]) =>
      publishAt(own.service.instances[0]!, { type: name, data: { id: '1', list } });
    // Metrics are those of the process, in which another service may have had a type of this name.
    const breaks = async () => {
      const { text } = await own.service.http.send('/metrics');
      return Number(
        text.split(`event_schema_breaks_total{type="${name}",version="1"} `)[1]?.split('\n')[0] ?? 0,
      );
    };
    const before = await breaks();
    expect((await publish(Array(10_000).fill('x') as string[])).status).toBe(202);
    expect((await publish(['x'])).status).toBe(202);
    expect(await breaks()).toBe(before + 1);
  });
});
