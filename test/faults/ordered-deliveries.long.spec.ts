import { useKilledInstances } from '../support/killed-instances.js';

const ROUNDS = process.env.NIGHTLY ? 21 : 7;
const EVENTS_IN_ROUND = 4;
/** One event of each user in so many is refused until its retries are used up. */
const REFUSED_EVERY = 7;

describe('an ordered endpoint of two instances that are killed again and again', () => {
  const instances = useKilledInstances({
    users: 6,
    endpoint: { ordered: true },
    retrySchedule: '1,1,1',
    answer: (response, { body }) => {
      const { data } = JSON.parse(body) as { data: { n: number } };
      const isRefused = data.n % REFUSED_EVERY === REFUSED_EVERY - 1;
      response.writeHead(isRefused || Math.random() < 0.25 ? 500 : 204).end();
    },
  });

  it('gets no event of a user before an earlier one, and is told of each that it did not get', async () => {
    const stored = await instances.run(ROUNDS, EVENTS_IN_ROUND);
    const arrived = instances.requests.map(({ body, headers }) => ({
      id: (JSON.parse(body) as { id: string }).id,
      gap: headers['webhook-sequence-gap'],
    }));
    const firstTimes = [...new Set(arrived.map(({ id }) => id))];
    const lastGap = new Map(arrived.map(({ id, gap }) => [id, gap]));
    for (const user of instances.users) {
      const own = stored.filter(({ user_id: id }) => id === user.id);
      const ids = own.map(({ id }) => id);
      expect(firstTimes.filter((id) => ids.includes(id))).toEqual(ids);
      let missing = 0;
      for (const { id, state } of own) {
        expect([id, lastGap.get(id)]).toEqual([id, missing === 0 ? undefined : String(missing)]);
        missing = state === 'delivered' ? 0 : missing + 1;
      }
    }
    const failed = stored.filter(({ state }) => state === 'failed');
    const refusedOfEach = Math.floor((ROUNDS * EVENTS_IN_ROUND) / REFUSED_EVERY);
    expect(failed.length).toBeGreaterThanOrEqual(instances.users.length * refusedOfEach);
  });
});
