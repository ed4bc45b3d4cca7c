import { useKilledInstances } from '../support/killed-instances.js';

const MAX = 5;
/** Ten events of each of four users: eight requests at least. */
const ROUNDS = process.env.NIGHTLY ? 12 : 4;

interface Batch {
  type: string;
  data: { id: string; user_id: string }[];
}

describe('an ordered endpoint with batches of two instances that are killed again and again', () => {
  const acknowledged = new Set<string>();
  const instances = useKilledInstances({
    users: 4,
    endpoint: { ordered: true, batch: { max: MAX, wait_ms: 200 } },
    // Never used up.
    retrySchedule: Array(50).fill('1').join(),
    answer: (response, { body }) => {
      const { data } = JSON.parse(body) as Batch;
      const chance = Math.random();
      if (chance < 0.2) return void response.writeHead(500).end();
      // Some of it, or all.
      const failed = chance < 0.5 ? data.filter(() => Math.random() < 0.3).map(({ id }) => id) : [];
      for (const { id } of data) if (!failed.includes(id)) acknowledged.add(id);
      response.writeHead(207).end(JSON.stringify({ failed }));
    },
  });

  it('gets every event, and none of a user before an earlier one', async () => {
    const stored = await instances.run(ROUNDS, 10);
    expect(stored.filter(({ state, id }) => state !== 'delivered' || !acknowledged.has(id))).toEqual([]);
    const batches = instances.requests.map(({ body }) => JSON.parse(body) as Batch);
    expect(Math.max(...batches.map(({ data }) => data.length))).toBe(MAX);
    const firstTimes = [...new Set(batches.flatMap(({ data }) => data.map(({ id }) => id)))];
    for (const user of instances.users) {
      const ids = stored.filter(({ user_id: id }) => id === user.id).map(({ id }) => id);
      expect(firstTimes.filter((id) => ids.includes(id))).toEqual(ids);
      for (const { data } of batches) {
        const here = data.filter(({ user_id: id }) => id === user.id).map(({ id }) => ids.indexOf(id));
        expect(here).toEqual([...here].sort((a, b) => a - b));
      }
    }
  });
});
