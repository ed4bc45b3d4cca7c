import { DataSource } from 'typeorm';
import { EventFeedRepository, SCANNED_AT_ONCE } from '#events/webhooks/feed/event-feed.repository.js';
import { BEGINNING } from '#events/webhooks/feed/feed-position.js';
import { madeOnce, PARTNER_SCOPES, TYPE, useService } from '../support/spec.js';
import { pagesOf, plansOf, rowsOf, type Plan } from '../support/list-plans.js';

const USERS = 3_000;
const LIMIT = 25;
/** For an event that is not for the client: itself, and a look for a consent. */
const PAGES_EACH = 3;

/* Contract §21: a feed of many events, every second of which is for the client. */
describe('A page of the feed of events', () => {
  const service = useService({ env: { ROLE: 'api' } });
  const client = madeOnce(() => service.make.client());
  // Their transaction is over, whatever transactions of other tests the server still has.
  beforeAll(() =>
    service.database.query(`
      SET session_replication_role = replica;
      INSERT INTO users (id, email, email_key, name, kind, role)
      SELECT 'user' || lpad(n::text, 26, '0'), n || '@mail.example', n || '@mail.example', 'Driver', 'individual', 'user'
        FROM generate_series(1, ${USERS}) n;
      INSERT INTO consents (client_id, user_id, scopes, granted_at)
      SELECT '${client.id}', 'user' || lpad(n::text, 26, '0'), '{charging_session:read}', '2025-01-01'
        FROM generate_series(1, ${USERS}) n WHERE n % 2 = 0;
      INSERT INTO events (id, type, user_id, payload, deliveries, xid)
      SELECT 'evnt' || lpad(n::text, 26, '0'), '${TYPE}', 'user' || lpad(n::text, 26, '0'), '{}', 0, '3'
        FROM generate_series(1, ${USERS}) n;
      RESET session_replication_role;
      ANALYZE;
    `),
  );

  const look = (clientId: string, limit: number, after = BEGINNING) =>
    service.app.get(EventFeedRepository).look({ clientId, scopes: PARTNER_SCOPES }, after, limit);

  const planOf = async (work: () => Promise<unknown>): Promise<Plan> => {
    const plans = await plansOf(service.app.get(DataSource), /^WITH settled/, work);
    expect(plans).toHaveLength(1);
    return plans[0]!;
  };

  it('is read no further than to its last event', async () => {
    let shown = 0;
    const plan = await planOf(async () => void (shown = (await look(client.id, LIMIT)).events.length));
    expect(shown).toBe(LIMIT);
    expect(rowsOf(plan)).toBeLessThan(SCANNED_AT_ONCE);
  });

  it('looks for a consent of each event that is for others, and for nothing else', async () => {
    const stranger = await service.make.client();
    const plan = await planOf(() => look(stranger.id, LIMIT));
    expect(pagesOf(plan)).toBeLessThan(PAGES_EACH * SCANNED_AT_ONCE);
  });

  it('says how far it was read if it has fewer events than were asked for', async () => {
    const none = await look((await service.make.client()).id, LIMIT);
    const last = `evnt${String(SCANNED_AT_ONCE).padStart(26, '0')}`;
    expect(none).toMatchObject({ events: [], scanned: SCANNED_AT_ONCE, last: { eventId: last } });
    const some = await look(client.id, SCANNED_AT_ONCE);
    expect([some.events.length, some.scanned, some.last?.eventId]).toEqual([
      SCANNED_AT_ONCE / 2,
      SCANNED_AT_ONCE,
      last,
    ]);
    const end = await look(client.id, USERS, { ...none.last!, eventId: 'evntZ' });
    expect(end).toMatchObject({ events: [], scanned: 0, last: null });
  });
});
