import { Client } from 'pg';
import { untilWaitingForLocks } from '../support/locks.js';
import { PATIENT, type TestInstance, unexpectedErrors, until, useSharedService } from '../support/spec.js';
import { SandboxProgram, stopPlannedEvents, type SandboxDriver } from '../support/sandbox.js';

interface Event {
  id: string;
  data: { id: string };
  sequence: number;
}

describe('Events that the sandbox and its client publish about one vehicle', () => {
  // Whoever waits keeps waiting, however long it takes until the other waits, too.
  const service = useSharedService({ instances: 2, databaseOptions: PATIENT });
  let partner: SandboxProgram;
  let publisher: string;
  let driver: SandboxDriver;

  beforeEach(async () => {
    const ownerId = (await service.make.user({ kind: 'organisation' })).id;
    partner = await SandboxProgram.start(service, { ownerId });
    driver = await partner.driver();
    const client = {
      scopes: ['event:publish'],
      grantTypes: ['client_credentials' as const],
      redirectUris: [],
    };
    publisher = (await SandboxProgram.start(service, { ...client, ownerId })).bearer;
  });
  afterEach(() => expect(unexpectedErrors(service)).toEqual([]));

  const plan = async (count: number): Promise<void> => {
    expect((await partner.call('POST', `drivers/${driver.id}/events`, { count })).status).toBe(202);
  };
  const publish = async (instance: TestInstance): Promise<string> => {
    const answer = await instance.http.send('/v2/events', {
      bearer: publisher,
      json: {
        type: 'vehicle.updated',
        user_id: driver.id,
        timestamp: '2026-01-01T00:00:00Z',
        data: { id: driver.vehicle.id, state_of_charge_percent: 50, plugged_in: true, reachable: true },
      },
    });
    expect([answer.status, answer.json]).toEqual([202, expect.anything()]);
    return answer.json.id as string;
  };
  /** The numbers of the events about the vehicle as the feed shows them, once it shows so many. */
  const numbersInFeed = async (count: number): Promise<number[]> => {
    let events: Event[] = [];
    await until('the feed shows the events', async () => {
      const { json } = await service.http.get('/v2/events?page_size=100', { bearer: partner.bearer });
      events = (json as Event[]).filter(({ data }) => data.id === driver.vehicle.id);
      return events.length >= count;
    });
    return events.map(({ sequence }) => sequence);
  };
  const upTo = (count: number) => Array.from({ length: count }, (_each, n) => n + 1);

  it('are numbered in the order of the feed, if the sandbox is held up before it publishes', async () => {
    const [first, second] = await stopPlannedEvents(service);
    await plan(1);
    const holding = new Client({ connectionString: service.database.url });
    await holding.connect();
    try {
      await holding.query('BEGIN');
      await holding.query('SELECT 1 FROM sandbox_planned_events WHERE user_id = $1 FOR UPDATE', [driver.id]);
      first!.onApplicationBootstrap();
      await untilWaitingForLocks(service.database, 1);
      const publishing = publish(service.instances[1]!);
      // It waits for its turn, or is already done.
      await Promise.race([publishing, untilWaitingForLocks(service.database, 2)]);
      await holding.query('ROLLBACK');
      await publishing;
    } finally {
      await holding.end();
      second!.onApplicationBootstrap();
    }
    expect(await numbersInFeed(2)).toEqual([1, 2]);
  });

  it('are numbered in the order of the feed, whichever instance publishes them', async () => {
    const publishing: Promise<string>[] = [];
    for (let n = 0; n < 20; n++) {
      await plan(2);
      for (const instance of service.instances) publishing.push(publish(instance));
    }
    await Promise.all(publishing);
    // Every second event of a burst is about the vehicle.
    expect(await numbersInFeed(60)).toEqual(upTo(60));
  });
});
