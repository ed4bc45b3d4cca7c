import { useKilledInstances } from '../support/killed-instances.js';

const ROUNDS = process.env.NIGHTLY ? 21 : 4;
const EVENTS_IN_ROUND = 4;
/** One event of each user in so many is refused until its retries are used up. */
const REFUSED_EVERY = 7;
const BATCH_MAX = 5;

interface Sent {
  id: string;
  user_id: string;
  data: { n: number };
}
const batchOf = (body: string) => (JSON.parse(body) as { data: Sent[] }).data;

describe('ordered endpoints of two instances that are killed again and again', () => {
  const acknowledged = new Set<string>();
  const refusals = new Map<string, number>();
  const instances = useKilledInstances({
    users: 6,
    retrySchedule: '1,1,1',
    endpoints: {
      single: {
        members: { ordered: true },
        answer: (response, { body }) => {
          const { data } = JSON.parse(body) as Sent;
          const isRefused = data.n % REFUSED_EVERY === REFUSED_EVERY - 1;
          response.writeHead(isRefused || Math.random() < 0.25 ? 500 : 204).end();
        },
      },
      batched: {
        members: { ordered: true, batch: { max: BATCH_MAX, wait_ms: 200 } },
        // Some of it, all or nothing; no event as often as its retries would be used up.
        answer: (response, { body }) => {
          const events = batchOf(body);
          const isTired = events.some(({ id }) => (refusals.get(id) ?? 0) >= 2);
          const chance = isTired ? 1 : Math.random();
          const refused = events.filter(() => chance < 0.2 || (chance < 0.5 && Math.random() < 0.3));
          const behind = (event: Sent, n: number) =>
            events.slice(0, n + 1).some((each) => each.user_id === event.user_id && refused.includes(each));
          for (const [n, event] of events.entries()) {
            if (behind(event, n)) refusals.set(event.id, (refusals.get(event.id) ?? 0) + 1);
            else acknowledged.add(event.id);
          }
          if (chance < 0.2) response.writeHead(500).end();
          else response.writeHead(207).end(JSON.stringify({ failed: refused.map(({ id }) => id) }));
        },
      },
    },
  });

  it('get no event of a user before an earlier one, and are told of each that they did not get, also in batches', async () => {
    const stored = await instances.run(ROUNDS, EVENTS_IN_ROUND);
    const arrived = instances.requestsOf('single').map(({ body, headers }) => ({
      id: (JSON.parse(body) as Sent).id,
      gap: headers['webhook-sequence-gap'],
    }));
    const batches = instances.requestsOf('batched').map(({ body }) => batchOf(body));
    const firstTimes = {
      single: [...new Set(arrived.map(({ id }) => id))],
      batched: [...new Set(batches.flatMap((events) => events.map(({ id }) => id)))],
    };
    const lastGap = new Map(arrived.map(({ id, gap }) => [id, gap]));
    for (const user of instances.users) {
      for (const name of ['single', 'batched'] as const) {
        const ids = stored[name].filter(({ user_id: id }) => id === user.id).map(({ id }) => id);
        expect([name, firstTimes[name].filter((id) => ids.includes(id))]).toEqual([name, ids]);
      }
      let missing = 0;
      for (const { id, state } of stored.single.filter(({ user_id: of }) => of === user.id)) {
        expect([id, lastGap.get(id)]).toEqual([id, missing === 0 ? undefined : String(missing)]);
        missing = state === 'delivered' ? 0 : missing + 1;
      }
      const places = new Map(stored.batched.map(({ id }, n) => [id, n]));
      for (const events of batches) {
        const here = events.filter(({ user_id: id }) => id === user.id).map(({ id }) => places.get(id)!);
        expect(here).toEqual([...here].sort((a, b) => a - b));
      }
    }
    const failed = stored.single.filter(({ state }) => state === 'failed');
    const refusedOfEach = Math.floor((ROUNDS * EVENTS_IN_ROUND) / REFUSED_EVERY);
    expect(failed.length).toBeGreaterThanOrEqual(instances.users.length * refusedOfEach);
    expect(stored.batched.filter(({ id, state }) => state !== 'delivered' || !acknowledged.has(id))).toEqual(
      [],
    );
    expect(Math.max(...batches.map(({ length }) => length))).toBe(BATCH_MAX);
  });
});
