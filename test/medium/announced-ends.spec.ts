import { DataSource } from 'typeorm';
import { ConsentExpiryService } from '#access/consents/consent-expiry.service.js';
import { pagesOf, plansOf } from '../support/list-plans.js';
import { madeOnce, useService } from '../support/spec.js';
import { leaveOutSchedule } from '../support/scheduled-work.js';

const CONSENTS = 12_000;
/** Two thousand of two indexes, by three stretches; a look at each consent was twelve for each of them. */
const READ_AT_MOST = 10_000;

/* Contract §2: the ends of consents are announced, each once. */
describe('The ends of consents that were announced', () => {
  const service = useService({ env: { ROLE: 'api' } });
  const client = madeOnce(() => service.make.client());
  const expiry = () => service.app.get(ConsentExpiryService);
  beforeAll(async () => {
    await leaveOutSchedule(service, ConsentExpiryService);
    await service.database.query(`
      SET session_replication_role = replica;
      INSERT INTO users (id, email, email_key, name, kind, role)
      SELECT 'user' || lpad(n::text, 26, '0'), n || '@mail.example', n || '@mail.example', 'Driver', 'individual', 'user'
        FROM generate_series(1, ${CONSENTS}) n;
      INSERT INTO consents (client_id, user_id, scopes, granted_at, expires_at)
      SELECT '${client.id}', 'user' || lpad(n::text, 26, '0'), '{charging_session:read}', now() - interval '300 days',
             now() + interval '1 day' + n * interval '1 second'
        FROM generate_series(1, ${CONSENTS}) n;
      INSERT INTO consent_notices (client_id, user_id, expires_at) SELECT client_id, user_id, expires_at FROM consents;
      RESET session_replication_role;
    `);
    for (const table of ['consents', 'consent_notices', 'users'])
      await service.database.query(`VACUUM ANALYZE ${table}`);
  });

  it('are told from the others by two indexes, and looked up no more', async () => {
    const plans = await plansOf(service.app.get(DataSource), /EXISTS \(SELECT 1 FROM|OFFSET/, async () =>
      expect(await expiry().run()).toMatchObject({ told: 0 }),
    );
    expect(plans.length).toBeGreaterThanOrEqual(CONSENTS / 5_000);
    expect(plans.reduce((sum, plan) => sum + pagesOf(plan), 0)).toBeLessThan(READ_AT_MOST);
  });

  it('hide none that was not, in any stretch of them', async () => {
    const untold = [1, 5_000, 5_001, CONSENTS].map((n) => `user${String(n).padStart(26, '0')}`);
    await service.database.query('DELETE FROM consent_notices WHERE user_id = ANY ($1)', [untold]);
    expect(await expiry().run()).toMatchObject({ told: untold.length });
    expect(await expiry().run()).toMatchObject({ told: 0 });
  });
});
