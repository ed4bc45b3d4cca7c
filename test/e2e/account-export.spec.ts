import { newId } from '#platform/secrets/ids.js';
import { IsNull, type Repository } from 'typeorm';
import { getRepositoryToken } from '@nestjs/typeorm';
import { Transactions } from '#platform/database/queries/transactions.js';
import { PersonalData } from '#access/users/accounts/personal-data.js';
import { DataExportsRepository, DataExportEntity } from '#access/users/closing/data-exports.repository.js';
import { RECORDS_IN_FILE, RECORDS_ON_PAGE } from '#access/users/closing/data-exports.service.js';
import { newLink, newSecret } from '#platform/secrets/tokens.js';
import type { UserEntity } from '#access/users/accounts/user.entity.js';
import { actionsOn } from '../support/audit-events.js';
import { MAIL_KINDS } from '#records/mail/mail.entity.js';
import { BrowserSession, type Page, postedAnew } from '../support/browser-session.js';
import { setUpApp, setUpPasskey } from '../support/factors-without-pages.js';
import { madeForEach, PASSWORD, placeOf, until, useSharedService, WEBHOOK_ENV } from '../support/spec.js';
import { makeEndpoint, seedDelivery, type SeededDelivery } from '../support/portal.js';
import { useSharedServiceWithMail } from '../support/set-up.js';
import { listOf } from '../support/list-of.js';

const PATH = '/account/export';

interface File {
  made_at: string;
  user_id: string;
  language: string;
  sections: Record<string, { title: string; about: string; is_complete: boolean; records: object[] }>;
}

/** The part of the page with this heading. */
const sectionOf = (page: Page, heading: string) =>
  page.html.querySelectorAll('details').find((each) => each.querySelector('h2')?.text === heading)!;

describe('The export of a person’s data', () => {
  const { service, smtp } = useSharedServiceWithMail();
  const user = madeForEach(() => service.make.user({ emailVerified: true, name: 'Dana <b>Driver</b>' }));
  const browser = madeForEach(() => service.make.signedIn(user));

  const ask = (by: BrowserSession = browser) => by.fillIn(PATH);
  /** The path of the link that the next mail brings. */
  const linkOf = async (n = 1): Promise<string> => {
    const mails = () => smtp.to(user.email).filter(({ subject }) => subject === 'Your data is ready');
    await until(`link ${n} has arrived`, () => mails().length >= n);
    return new URL(mails()[n - 1]!.link).pathname;
  };
  const askedLink = async (): Promise<string> => {
    expect(placeOf(await ask())).toEqual([303, PATH]);
    return linkOf();
  };
  /** A link as one is mailed, without the mail. */
  const newLinkOf = async ({ id }: UserEntity): Promise<string> => {
    const { key, digest } = newLink('exportKey');
    const exports = service.app.get(DataExportsRepository);
    await service.app.get(Transactions).run(() => exports.replace({ userId: id, digest, ttl: 3600 }));
    return `${PATH}/${key}`;
  };
  const download = async (link: string, by: BrowserSession = browser): Promise<Page> =>
    by.submit(await by.open(link), link);
  const isGone = async (page: Page): Promise<void> => {
    expect(page.status).toBe(410);
    expect(page.html.querySelector('h1')!.text).toBe('This link no longer works');
    expect(page.text).not.toContain('Your account</h2>');
  };
  const age = (column: string, by: string) =>
    service.database.query(
      `UPDATE data_exports SET ${column} = ${column} - interval '${by}' WHERE user_id = $1`,
      [user.id],
    );

  describe('refuses', () => {
    it('to send a link to an address that is not verified, and says where to verify it', async () => {
      const unverified = await service.make.user({ emailVerified: true });
      const theirs = await service.make.signedIn(unverified);
      const before = await theirs.open(PATH);
      await service.database.query('UPDATE users SET email_verified_at = NULL WHERE id = $1', [
        unverified.id,
      ]);
      const page = await theirs.open(PATH);
      const answer = await theirs.submit(before, PATH);
      expect([page.status, answer.status]).toEqual([200, 409]);
      for (const { html } of [page, answer]) {
        expect(html.querySelector('[role="alert"]')!.text).toContain('Confirm your address');
        expect(html.querySelector('[role="alert"] a')!.getAttribute('href')).toBe('/account/email');
        expect(html.querySelector(`form[action="${PATH}"]`)).toBeNull();
      }
      expect(await actionsOn(service, unverified.id, 'user.export')).toEqual([]);
      expect(smtp.to(unverified.email).map(({ subject }) => subject)).not.toContain('Your data is ready');
    });

    it('a login of long ago, to ask and to use the link', async () => {
      const link = await newLinkOf(user);
      await service.make.ageSessions(user);
      for (const path of [PATH, link]) {
        const answer = await browser.open(path);
        expect(placeOf(answer)).toEqual([303, `/account/confirm?return_to=${encodeURIComponent(path)}`]);
      }
    });

    it('a visitor who is not logged in, whom it leads to the login and back', async () => {
      const link = await newLinkOf(user);
      const answer = await new BrowserSession(service.url).open(link);
      expect(placeOf(answer)).toEqual([302, `/login?return_to=${encodeURIComponent(link)}`]);
    });

    it('the link of another user, who can still use it', async () => {
      const link = await newLinkOf(user);
      const other = await service.make.signedInNew({ emailVerified: true });
      await isGone(await other.open(link));
      // With a form of their own, which they get where the link is theirs.
      await other.fillIn(PATH);
      const page = await browser.open(link);
      const forged = await other.open(link, {
        form: { csrf_token: page.html.querySelector('input[name="csrf_token"]')!.getAttribute('value')! },
        headers: { origin: service.url },
      });
      expect(forged.status).toBe(403);
      expect((await download(link)).status).toBe(200);
    });

    it('links that are unknown, malformed, expired, or replaced by a newer one', async () => {
      for (const key of [newSecret('exportKey'), 'x', newSecret('emailKey')])
        await isGone(await browser.open(`${PATH}/${key}`));
      const first = await askedLink();
      const page = await browser.open(first);
      await ask();
      const second = await linkOf(2);
      await isGone(await browser.open(first));
      await isGone(await browser.submit(page, first));
      const later = await browser.open(second);
      await age('expires_at', '1 day');
      await isGone(await browser.open(second));
      await isGone(await browser.submit(later, second));
      expect(await actionsOn(service, user.id, 'user.export')).toEqual([
        'user.export_requested',
        'user.export_requested',
      ]);
    });

    it('a link that was used, to one of two at once', async () => {
      const link = await newLinkOf(user);
      const page = await browser.open(link);
      const answers = await Promise.all(
        Array.from({ length: 2 }, () => browser.submit(page, link, postedAnew())),
      );
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 410]);
      await isGone(await browser.open(link));
      expect(await actionsOn(service, user.id, 'user.exported')).toEqual(['user.exported']);
    });

    it('more mails than others that one asks for, with 429', async () => {
      const answers: Page[] = [];
      while (answers.length < 6) answers.push(await ask());
      expect(answers.map(({ status }) => status)).toEqual([303, 303, 303, 303, 303, 429]);
      expect(Number(answers.at(-1)!.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(await actionsOn(service, user.id, 'user.export')).toHaveLength(5);
    });
  });

  it('stays usable if the data cannot be read', async () => {
    const link = await newLinkOf(user);
    const page = await browser.open(link);
    const data = service.app.get(PersonalData);
    const spy = jest.spyOn(data, 'read').mockRejectedValue(new Error('The disk is on fire.'));
    expect((await browser.submit(page, link)).status).toBe(500);
    spy.mockRestore();
    const unused = service.app
      .get<Repository<DataExportEntity>>(getRepositoryToken(DataExportEntity))
      .existsBy({ userId: user.id, usedAt: IsNull() });
    expect(await unused).toBe(true);
    expect((await browser.submit(page, link)).status).toBe(200);
  });

  it('is mailed as a link that opening does not use up, and downloaded once as a file', async () => {
    const client = await service.make.client({ name: 'Northwind' });
    await service.make.tokens(client, user);
    const link = await askedLink();
    expect(link).toMatch(/^\/account\/export\/cds_de_/);
    for (let n = 0; n < 2; n++) {
      const page = await browser.open(link);
      expect([page.status, page.headers.get('cache-control')]).toEqual([200, 'no-store']);
      expect(page.headers.get('referrer-policy')).toBe('strict-origin');
      expect(page.text).not.toContain('<b>Driver');
      const headings = page.html.querySelectorAll('h2').map(({ text }) => text);
      expect(headings).toEqual(expect.arrayContaining(['Your account', 'Applications', 'Sessions']));
      expect(page.text).toContain('See your vehicles: make, model');
      expect(page.text).not.toContain('vehicle:read');
    }
    const answer = await download(link);
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(answer.headers.get('content-disposition')).toMatch(
      /^attachment; filename="my-data-\d{4}-\d\d-\d\d\.json"$/,
    );
    expect(answer.headers.get('cache-control')).toBe('no-store');
    const file = JSON.parse(answer.text) as File;
    expect(file.user_id).toBe(user.id);
    expect(Object.keys(file.sections)).toEqual(service.app.get(PersonalData).names);
    expect(file.sections.profile!.records).toEqual([
      expect.objectContaining({ id: user.id, name: 'Dana <b>Driver</b>', email: user.email }),
    ]);
    expect(file.sections.consents!.records).toEqual([
      expect.objectContaining({ client_id: client.id, application: 'Northwind', revoked_at: null }),
    ]);
    expect(file.sections.grants!.records).toHaveLength(1);
    expect(await actionsOn(service, user.id, 'user.export')).toEqual([
      'user.export_requested',
      'user.exported',
    ]);
  });

  it('names mails to the person that belong to no account, such as an invitation, and none to others', async () => {
    const invite = (address: string) =>
      service.database.query(
        `INSERT INTO mails (id, kind, address, cause, state, sent_at, finished_at)
         VALUES ($1, 'invitation', $2, $1, 'sent', now(), now())`,
        [newId('mail'), address],
      );
    await invite(user.email.toUpperCase());
    await invite('someone-else@mail.example');
    const { sections } = JSON.parse((await download(await newLinkOf(user))).text) as File;
    const invitations = sections.mails!.records.filter(
      (mail) => (mail as { kind: string }).kind === 'invitation',
    );
    expect(invitations).toEqual([expect.objectContaining({ address: user.email.toUpperCase() })]);
  });

  it('contains no secret, no digest, nothing sealed, and no words that only operators may read', async () => {
    const client = await service.make.client({ ownerId: user.id });
    await service.make.updateClient(client, { description: 'pays late' });
    await service.make.tokens(client, user);
    await setUpPasskey(service, browser);
    await setUpApp(service, browser);
    const answer = await download(await newLinkOf(user));
    const file = JSON.parse(answer.text) as File;
    expect(file.sections.sign_in_methods!.records).toHaveLength(4);
    expect(file.sections.owned_applications!.records).toHaveLength(1);
    expect(answer.text).not.toMatch(/cds_(?!de)|argon2|whsec_|digest|sealed|"secret|pays late/);
    const columns = await service.database.query<{ table: string; column: string }>(
      `SELECT table_name AS "table", column_name AS "column" FROM information_schema.columns
        WHERE table_schema = current_schema() AND data_type = 'bytea'`,
    );
    const forms: string[] = [];
    for (const { table, column } of columns) {
      const bytes = await service.database.column<Buffer>(
        `SELECT "${column}" FROM "${table}" WHERE length("${column}") >= 8`,
      );
      for (const each of bytes)
        forms.push(each.toString('hex'), each.toString('base64'), each.toString('base64url'));
    }
    expect(forms.length).toBeGreaterThan(30);
    expect(forms.filter((form) => answer.text.includes(form))).toEqual([]);
    const credential = await service.database.value<string>(
      'SELECT credential_id FROM passkeys WHERE user_id = $1',
      [user.id],
    );
    expect(answer.text).not.toContain(credential);
  });

  it('contains nothing about others: who did something to the account, and what the user did to others', async () => {
    const operator = await service.make.user({ role: 'operator', name: 'Olga Operator' });
    const bearer = await service.make.adminToken(undefined, operator);
    const json = { name: 'Dana Renamed' };
    await service.http.send(`/admin/users/${user.id}`, { method: 'PATCH', bearer, json });
    await service.database.query(
      `INSERT INTO audit_events (actor_type, actor_id, action, subject_type, subject_id, after, address)
       VALUES ('user', $1, 'user.updated', 'user', $2, '{"email": "someone-else@mail.example"}', '203.0.113.9'),
              ('user', $2, 'user.updated', 'user', $1, '{"name": "x"}', '203.0.113.77')`,
      [user.id, operator.id],
    );
    const { text } = await download(await newLinkOf(user));
    const { sections } = JSON.parse(text) as File;
    expect(sections.changes!.records).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ action: 'user.updated', by: 'application', address: null }),
        expect.objectContaining({ action: 'user.updated', by: 'operator', address: null }),
      ]),
    );
    expect(sections.actions!.records).toEqual(
      expect.arrayContaining([expect.objectContaining({ subject_id: operator.id, address: '203.0.113.9' })]),
    );
    expect(text).not.toMatch(/someone-else|Olga|203\.0\.113\.77/);
  });

  it('is in the language of the reader throughout, on the page and in the file', async () => {
    const client = await service.make.client({ name: 'Northwind' });
    await service.make.consent(client, user);
    await service.make.tokens(client, user);
    await setUpPasskey(service, browser);
    await service.database.query(
      `INSERT INTO disclosure_days (user_id, client_id, day, scope, requests, deliveries)
       SELECT $1, $2, (now() AT TIME ZONE 'UTC')::date, scope, 1, 2 FROM unnest(ARRAY['vehicle:read', 'account data']) scope`,
      [user.id, client.id],
    );
    const data = { id: 'x', plugged_in_at: '2026-03-02T17:42:10Z', state: 'charging', energy_kwh: 11.4 };
    await service.database.query(
      `INSERT INTO events (id, type, user_id, payload, deliveries) VALUES ($2, 'charging_session.updated', $1, $3, 0)`,
      [user.id, newId('evnt'), JSON.stringify({ data })],
    );
    await service.database.query(
      `INSERT INTO mails (id, user_id, kind, address, cause, state, finished_at)
       SELECT 'mail' || lpad(n::text, 26, '0'), $1, kind, $2, $1 || kind, 'failed', now()
         FROM unnest($3::text[]) WITH ORDINALITY AS k (kind, n)`,
      [user.id, user.email, MAIL_KINDS],
    );
    await service.database.query(
      `INSERT INTO audit_events (actor_type, actor_id, action, subject_type, subject_id)
       VALUES ('user', NULL, 'session.refused', 'user', $1), ('client', $2, 'user.updated', 'user', $1),
              ('service', NULL, 'consent.expired', 'user', $1), ('user', $1, 'notification.marked', 'notification', $2)`,
      [user.id, client.id],
    );
    const reader = new BrowserSession(service.url, { 'accept-language': 'de' });
    await reader.logIn(user.email, PASSWORD);
    const link = await newLinkOf(user);
    const page = await reader.open(link);
    const main = page.html.querySelector('main')!;
    expect(main.querySelectorAll('[lang]').map(({ text }) => text)).toEqual([]);
    const said = listOf(`
      Eine Person, Passwort, Sicherheit Ihres Kontos, Anmeldung abgelehnt, Jemand Unbekanntes
    `);
    const read = listOf(`
      Ihre Fahrzeuge sehen, Ihr Name und Ihre E-Mail-Adresse, Sie haben zugestimmt, Northwind
    `);
    const event = [
      'Ladevorgang geändert',
      'Status: Lädt',
      'Energie in kWh: 11,4',
      'Angeschlossen: 02.03.2026, 17:42',
    ];
    for (const words of [...said, ...read]) expect(page.text).toContain(words);
    expect(sectionOf(page, 'Ihre Ladedaten').text).not.toMatch(/[a-z]_[a-z]/);
    for (const words of event) expect(sectionOf(page, 'Ihre Ladedaten').text).toContain(words);
    const file = JSON.parse((await reader.submit(page, link)).text) as File;
    expect([file.language, file.sections.profile!.title, file.sections.profile!.about]).toEqual([
      'de',
      'Ihr Konto',
      'Wer Sie hier sind.',
    ]);
    expect(file.sections.consents!.records).toEqual([
      expect.objectContaining({
        allowed: [expect.stringContaining('Ihre'), expect.stringContaining('Ihre')],
      }),
    ]);
  });

  it('says what the user did to the account once, and what all records have in common once', async () => {
    await service.database.query(
      `INSERT INTO audit_events (actor_type, actor_id, action, subject_type, subject_id, address)
       SELECT 'user', $1, action, 'user', $1, '203.0.113.9' FROM unnest(ARRAY['session.started', 'user.exported']) action`,
      [user.id],
    );
    const link = await newLinkOf(user);
    const page = await browser.open(link);
    const headings = page.html.querySelectorAll('h2').map(({ text }) => text);
    expect(headings).not.toContain('What else you did');
    expect(page.text.match(/Your data downloaded/g)).toHaveLength(1);
    expect(page.html.querySelectorAll('caption')).toEqual([]);
    const sessions = sectionOf(page, 'Sessions');
    expect(sessions.querySelectorAll('dt').map(({ text }) => text)).toContain('With');
    expect(sessions.querySelectorAll('thead th').map(({ text }) => text)).not.toContain('With');
    const { sections } = JSON.parse((await browser.submit(page, link)).text) as File;
    const actionsIn = (name: string) =>
      sections[name]!.records.map((each) => (each as { action: string }).action);
    expect(actionsIn('changes')).toEqual(expect.arrayContaining(['session.started', 'user.exported']));
    expect(actionsIn('actions')).toEqual([]);
  });

  it('is cut where there is very much, and says so', async () => {
    // A hundred stand for all that one file may have.
    const data = service.app.get(PersonalData);
    const read = data.read.bind(data);
    const most: number[] = [];
    const spy = jest.spyOn(data, 'read').mockImplementation((userId, limit, language) => {
      most.push(limit);
      return read(userId, Math.min(limit, 100), language);
    });
    await service.database.query(
      `INSERT INTO audit_events (actor_type, action, subject_type, subject_id)
       SELECT 'service', 'user.updated', 'user', $1 FROM generate_series(1, 105)`,
      [user.id],
    );
    const link = await newLinkOf(user);
    const page = await browser.open(link);
    const section = sectionOf(page, 'What happened to your account');
    expect(section.querySelectorAll('tbody tr')).toHaveLength(RECORDS_ON_PAGE);
    expect(page.text).toContain('Older ones are in the file.');
    const { sections } = JSON.parse((await browser.submit(page, link)).text) as File;
    spy.mockRestore();
    expect([...new Set(most)]).toEqual([RECORDS_ON_PAGE, RECORDS_IN_FILE]);
    expect([sections.changes!.records.length, sections.changes!.is_complete]).toEqual([100, false]);
    expect([sections.profile!.is_complete, sections.sessions!.is_complete]).toEqual([true, true]);
  });
});

describe('The events in the export of a person’s data', () => {
  const service = useSharedService({ env: WEBHOOK_ENV });

  it('name who never got them not at all, and who got them also after a resend that did not arrive', async () => {
    const user = await service.make.user();
    const client = await service.make.client({ name: 'Northwind' });
    const endpoint = await makeEndpoint(service, client);
    const [arrived, failed] = [{ status: 204 }, { status: 500 }];
    const cancelReason = 'endpoint_disabled';
    const never: SeededDelivery[] = [
      { state: 'pending', attempts: [failed] },
      { state: 'failed', attempts: [failed] },
      { state: 'cancelled', cancelReason },
    ];
    const got: SeededDelivery[] = [
      { state: 'delivered', attempts: [failed, arrived] },
      { state: 'pending', attempts: [arrived] },
      { state: 'failed', attempts: [arrived, failed] },
      { state: 'cancelled', cancelReason, attempts: [arrived] },
    ];
    for (const each of [...never, ...got])
      await seedDelivery(service, endpoint, { ...each, userId: user.id });
    const sections = await service.app.get(PersonalData).read(user.id, 10, 'en');
    const { records } = sections.find(({ name }) => name === 'events')!;
    const northwind = [{ client_id: client.id, application: 'Northwind' }];
    const named = (records as { delivered_to: object[] }[]).map(({ delivered_to: to }) => to);
    expect(named.filter((to) => to.length === 0)).toHaveLength(never.length);
    expect(named.filter((to) => to.length > 0)).toEqual(got.map(() => northwind));
  });
});

describe('Without mail', () => {
  const service = useSharedService();

  it('the data is shown at once after a recent login, and downloaded once', async () => {
    const user = await service.make.user();
    const browser = await service.make.signedIn(user);
    const asking = await browser.open(PATH);
    await service.make.ageSessions(user);
    const refused = [await browser.open(PATH), await browser.submit(asking, PATH)];
    const confirm = [303, `/account/confirm?return_to=${encodeURIComponent(PATH)}`];
    expect(refused.map(placeOf)).toEqual([confirm, confirm]);
    expect(await actionsOn(service, user.id, 'user.export')).toEqual([]);
    const again = await service.make.signedIn(user);
    expect((await again.open('/account')).html.querySelectorAll(`a[href="${PATH}"]`)).toHaveLength(1);
    const link = (await again.fillIn(PATH)).headers.get('location')!;
    const page = await again.open(link);
    expect(page.html.querySelector('h1')!.text).toBe('Your data');
    const downloads = await Promise.all([1, 2].map(() => again.submit(page, link, postedAnew())));
    expect(downloads.map(({ status }) => status).sort()).toEqual([200, 410]);
    expect(await actionsOn(service, user.id, 'user.export')).toEqual([
      'user.export_requested',
      'user.exported',
    ]);
    expect(await service.database.query('SELECT 1 FROM mails WHERE user_id = $1', [user.id])).toEqual([]);
  });
});
