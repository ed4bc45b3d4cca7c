import { ConsentExpiryService } from '#access/consents/consent-expiry.service.js';
import { newId } from '#platform/secrets/ids.js';
import { madeForEach, type TestClient, useServiceWithMail } from '../support/spec.js';
import { untilHourHasRoom } from '../support/hours.js';
import { leaveOutSchedule } from '../support/scheduled-work.js';

describe('A mail about consents that will soon end', () => {
  const { service, smtp } = useServiceWithMail({ env: { CONSENT_EXPIRY_NOTICE_DAYS: '14' } });
  beforeAll(() => leaveOutSchedule(service, ConsentExpiryService));
  const client = madeForEach(() => service.make.client({ name: 'Charge Planner', consentExpiryDays: 90 }));
  let counter = 0;
  let email: string;
  beforeEach(() => void (email = `ops${++counter}@partner.example`));

  const addContact = (of: TestClient = client, { verified = true, to = email } = {}) =>
    service.database.query(
      `INSERT INTO client_contacts (id, client_id, email, email_key, verified_at)
       VALUES ($1, $2, $3, $3, CASE WHEN $4 THEN now() END)`,
      [newId('cont'), of.id, to, verified],
    );
  /** A consent of long ago, from elsewhere, that ends within so many days. */
  const consent = async (days: number, of: TestClient = client) => {
    const user = await service.make.user();
    await service.make.consent(of, user);
    await service.database.query(
      `UPDATE consents SET method = 'import', granted_at = now() - interval '90 days', expires_at = now() + make_interval(days => $2)
        WHERE user_id = $1`,
      [user.id, days],
    );
    return user;
  };
  const work = () => service.app.get(ConsentExpiryService).run();
  const queued = (of: TestClient = client) =>
    service.database.column<string>(
      "SELECT address FROM mails WHERE client_id = $1 AND kind = 'consents_ending' ORDER BY id",
      [of.id],
    );

  it('is not sent while none does, and not to an address that is not verified', async () => {
    await addContact(client, { verified: false });
    await work();
    await consent(7);
    await work();
    expect(await queued()).toEqual([]);
  });

  it('says how many end, and leads to the portal', async () => {
    await addContact();
    await consent(7);
    await consent(3);
    await consent(80);
    await work();
    const mail = await smtp.mailTo(email);
    expect(mail.subject).toBe('Consents to Charge Planner will soon end');
    expect(mail.text).toContain('2 consents end within 14 days');
    expect(mail.link).toBe(`${service.url}/portal/sign-in`);
    expect(mail.headers.has('list')).toBe(true);
  });

  it('says so of one', async () => {
    await addContact();
    await consent(7);
    await work();
    expect((await smtp.mailTo(email)).text).toContain('One consent ends within 14 days, unless renewed');
  });

  it('does not count that of a disabled user', async () => {
    await addContact();
    await consent(7);
    const { id } = await consent(6);
    await service.database.query('UPDATE users SET enabled = false WHERE id = $1', [id]);
    await work();
    expect((await smtp.mailTo(email)).text).toContain('One consent ends within 14 days');
  });

  it('is one a day for each contact, and another one on another day', async () => {
    await untilHourHasRoom();
    await addContact();
    await addContact(client, { to: `other.${email}` });
    await consent(7);
    await work();
    await consent(6);
    await work();
    expect(await queued()).toEqual([email, `other.${email}`]);
    // As if it had been yesterday.
    await service.database.query("UPDATE mails SET cause = cause || ' of yesterday' WHERE client_id = $1", [
      client.id,
    ]);
    await consent(5);
    await work();
    expect(await queued()).toHaveLength(4);
  });

  it('is each client’s own', async () => {
    const other = await service.make.client();
    await addContact();
    await addContact(other);
    await consent(7, other);
    await work();
    expect([await queued(), await queued(other)]).toEqual([[], [email]]);
  });

  it('goes with what it tells of: if that is not recorded, it is not sent', async () => {
    await addContact();
    await consent(7);
    await service.database.query(
      `CREATE FUNCTION refuse_mails() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no mails'; END $$;
       CREATE TRIGGER refuse_mails BEFORE INSERT ON mails FOR EACH ROW EXECUTE FUNCTION refuse_mails()`,
    );
    await expect(work()).rejects.toThrow('no mails');
    await service.database.query('DROP TRIGGER refuse_mails ON mails; DROP FUNCTION refuse_mails');
    expect(
      await service.database.query('SELECT 1 FROM consent_notices WHERE client_id = $1', [client.id]),
    ).toEqual([]);
    await work();
    expect(await queued()).toEqual([email]);
  });
});
