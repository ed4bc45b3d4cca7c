import { ChangedMeanings } from '#access/consents/changed-meanings.service.js';
import { ChangedMeaningsRepository } from '#access/consents/changed-meanings.repository.js';
import { ConsentImportService } from '#access/consents/import/consent-import.service.js';
import { DomainEvents } from '#platform/database/domain/domain-events.service.js';
import { ConsentExpiryService } from '#access/consents/consent-expiry.service.js';
import { withoutTriggers } from '../support/without-triggers.js';
import { changesRead } from '../support/changes-read.js';
import { auditEventsOn, notificationsOf } from '../support/audit-events.js';
import { authorizePath, isAccepted, refresh, useSharedService } from '../support/spec.js';
import { setUpConsole } from '../support/console.js';
import { REDIRECT_URI, type TestClient } from '../support/factory.js';
import { whileHeld } from '../support/held-rows.js';
import { madeForEach, madeOnce } from '../support/made.js';
import { errorsIn } from '../support/plain-words.js';
import { leaveOutSchedule } from '../support/scheduled-work.js';
import { connectionTo } from '../support/test-database.js';
import type { UserEntity } from '#access/users/accounts/user.entity.js';

const DAY = 86_400;
/** Of these tests alone. */
const SCOPE = 'meaning:read';
const SCOPES = ['charging_session:read', SCOPE];

describe('When the words of a scope come to mean something else', () => {
  const service = useSharedService({ instances: 2 });
  beforeAll(() => leaveOutSchedule(service, ConsentExpiryService));
  const admin = madeOnce(async () => ({ bearer: await service.make.adminToken() }));
  beforeAll(async () => expect((await put({})).status).toBe(201));
  const client = madeForEach(() => service.make.client({ scopes: SCOPES }));
  const user = madeForEach(() => service.make.user());
  let counter = 0;

  const put = (members: object, name = SCOPE) =>
    service.http.send(`/admin/scopes/${name}`, {
      method: 'PUT',
      json: { audience: 'partner', description: `Words ${++counter}`, ...members },
      ...admin,
    });
  const changeMeaning = async (name = SCOPE) =>
    expect((await put({ meaning_changed: true }, name)).status).toBe(200);
  const work = async () => {
    await Promise.all(service.instances.map(({ app }) => app.get(ConsentExpiryService).run()));
    // Each has read what the other changed.
    await changesRead(service);
  };
  const consentOf = async (of: TestClient = client, by: UserEntity = user) => {
    const [row] = await service.database.query<{
      left: number | null;
      method: string;
      reason: string | null;
      words_changed: string[];
      scopes: string[];
    }>(
      `SELECT extract(epoch FROM expires_at - now())::float8 AS left, method, reason, words_changed, scopes
         FROM consents WHERE client_id = $1 AND user_id = $2`,
      [of.id, by.id],
    );
    return row!;
  };
  const consentPath = (scope?: string) =>
    authorizePath({ response_type: 'code', client_id: client.id, redirect_uri: REDIRECT_URI, scope });
  const pending = () =>
    service.database.column<string>(
      `SELECT name FROM scopes WHERE meaning_changed_at > coalesce(meaning_worked_off_at, '-infinity')`,
    );
  afterEach(async () => {
    await service.database.query(
      "UPDATE consents SET revoked_at = now(), method = 'service' WHERE revoked_at IS NULL AND $1 = ANY (scopes)",
      [SCOPE],
    );
    await service.database.query('UPDATE webhook_endpoints SET deleted_at = now() WHERE client_id = $1', [
      client.id,
    ]);
    await work();
  });

  describe('an operator', () => {
    it.each<[string, object]>([
      ['without another description', { description: 'The same words', meaning_changed: true }],
      ['for no yes or no', { meaning_changed: 'yes' }],
      ['for null', { meaning_changed: null }],
    ])('is refused %s', async (_what, members) => {
      await put({ description: 'The same words' });
      const answer = await put(members);
      expect([answer.status, Object.keys(answer.json.field_errors as object)]).toEqual([
        400,
        ['meaning_changed'],
      ]);
      expect(await pending()).toEqual([]);
    });

    it('is refused for a scope that is new, and for one of operators', async () => {
      expect((await put({ meaning_changed: true }, 'brand_new:read')).status).toBe(400);
      expect((await service.http.get('/admin/scopes/brand_new:read', admin)).status).toBe(404);
      const answer = await put({ audience: 'operator', meaning_changed: true }, 'admin:read');
      expect(answer.json.field_errors).toEqual({
        meaning_changed: ['is only for a scope that users agree to'],
      });
    });

    it('is recorded in the audit log, and the scope says when', async () => {
      const answer = await put({ meaning_changed: true });
      expect(answer.json.meaning_changed_at).toEqual(expect.any(String));
      const audited = (await auditEventsOn(service, SCOPE, 'scope.updated')).at(-1)!;
      expect(audited.after).toMatchObject({ meaning_changed_at: answer.json.meaning_changed_at });
    });

    it('asks nobody by other words alone', async () => {
      await service.make.tokens(client, user);
      await put({});
      await work();
      expect(await consentOf()).toMatchObject({ left: null, words_changed: [] });
    });
  });

  it('consents that hold it get an end, once, and user and client are told at once', async () => {
    await service.database.query(
      `INSERT INTO webhook_endpoints (id, client_id, url, event_types, sealed_secret)
       VALUES ('endp' || substr($1, 5), $1, 'http://127.0.0.1:9/', '{user.consent_granted,user.consent_changed,user.consent_expiring}', '\\x00')`,
      [client.id],
    );
    const tokens = await service.make.tokens(client, user);
    const operators = await service.make.user();
    await service.make.consent(client, operators, [SCOPE]);
    const other = await service.make.user();
    await service.make.consent(client, other, ['charging_session:read']);
    await changeMeaning();
    await work();
    await work();
    const asked = await consentOf();
    expect(asked).toMatchObject({ method: 'service', reason: 'words_changed', words_changed: [SCOPE] });
    expect([asked.left! <= 14 * DAY, asked.left! > 13.9 * DAY]).toEqual([true, true]);
    expect(await consentOf(client, operators)).toMatchObject({ reason: 'words_changed' });
    expect(await consentOf(client, other)).toMatchObject({ left: null, words_changed: [] });
    expect(
      (await notificationsOf(service, user.id)).filter((each) => each.message_id === 'ERR2407'),
    ).toHaveLength(1);
    const types = await service.database.column<string>(
      'SELECT type FROM events WHERE user_id = $1 ORDER BY id',
      [user.id],
    );
    expect(types).toEqual(['user.consent_granted', 'user.consent_changed', 'user.consent_expiring']);
    expect(await auditEventsOn(service, user.id, 'consent.updated')).toMatchObject([
      { actor_type: 'service', after: { client_id: client.id, words_changed: [SCOPE] } },
    ]);
    // The grant ends with the consent.
    const { json } = await refresh(service.http, client, tokens.refresh_token);
    expect(json.authorization_expires_in).toBeLessThanOrEqual(14 * DAY);
    const versions = await service.database.query(
      'SELECT event, method, reason FROM consent_versions WHERE user_id = $1 ORDER BY number',
      [user.id],
    );
    expect(versions).toEqual([
      { event: 'given', method: 'page', reason: null },
      { event: 'changed', method: 'service', reason: 'words_changed' },
    ]);
    expect(await pending()).toEqual([]);
  });

  it('an end that is earlier stays', async () => {
    const brief = await service.make.client({ scopes: SCOPES, consentExpiryDays: 3 });
    await service.make.tokens(brief, user);
    await changeMeaning();
    await work();
    const asked = await consentOf(brief);
    expect(asked.left).toBeLessThanOrEqual(3 * DAY);
    expect(asked.words_changed).toEqual([SCOPE]);
  });

  it('a consent ends with its tokens if nobody renews it', async () => {
    const { access_token } = await service.make.tokens(client, user);
    await changeMeaning();
    await work();
    await withoutTriggers(service.database, () =>
      service.database.query(
        "UPDATE consents SET expires_at = now() - interval '1 second' WHERE user_id = $1",
        [user.id],
      ),
    );
    await work();
    expect(await isAccepted(service.http, access_token)).toBe(false);
    expect(await consentOf()).toMatchObject({ reason: 'expired' });
  });

  it('the user renews it on one page, which says why, and the receipt says it too', async () => {
    const tokens = await service.make.tokens(client, user);
    await changeMeaning();
    await work();
    const browser = await service.make.signedIn(user);
    const path = `/account/applications/${client.id}/access`;
    const page = await browser.open(path);
    expect(page.text).toContain('so we ask you again');
    expect(page.text).toContain(`Words ${counter}`);
    await browser.submit(page, path);
    expect(await consentOf()).toMatchObject({
      left: null,
      method: 'account',
      reason: null,
      words_changed: [],
    });
    expect(await isAccepted(service.http, tokens.access_token)).toBe(true);
    await work();
    expect(await consentOf()).toMatchObject({ left: null });
    expect((await browser.open(path)).text).not.toContain('so we ask you again');
    const receipts = await browser.open(`/account/receipts/of/${client.id}`);
    expect(receipts.text).toContain('We changed what the words mean, so you are asked again.');
  });

  it('an optional scope is not chosen beforehand', async () => {
    await service.make.updateClient(client, { optionalScopes: [SCOPE] });
    const browser = await service.make.signedIn(user);
    await browser.submit(await browser.open(consentPath()), '/o/authorize/', {
      decision: 'authorize',
      optional_scope: SCOPE,
    });
    await changeMeaning();
    await work();
    for (const path of [consentPath(), `/account/applications/${client.id}/access`])
      expect((await browser.open(path)).text).toMatch(/<input type="checkbox"(?![^>]*checked)[^>]*>/);
  });

  it('a consent keeps its end if its user agrees only to other scopes, until the user sees the new words', async () => {
    await service.make.tokens(client, user);
    await changeMeaning();
    await work();
    const browser = await service.make.signedIn(user);
    const agree = async (scope: string) =>
      browser.submit(await browser.open(consentPath(scope)), '/o/authorize/', { decision: 'authorize' });
    await agree('charging_session:read');
    const partly = await consentOf();
    expect(partly).toMatchObject({ method: 'page', words_changed: [SCOPE] });
    expect(partly.left).toBeLessThanOrEqual(14 * DAY);
    expect((await browser.open(consentPath(SCOPE))).text).not.toContain('Already authorized');
    await agree(SCOPE);
    expect(await consentOf()).toMatchObject({ left: null, words_changed: [] });
  });

  it.each(['before the worker comes', 'after it'])(
    'whoever agrees to the new words %s is not asked',
    async (when) => {
      await changeMeaning();
      if (when === 'after it') await work();
      await service.make.tokens(client, user);
      await work();
      expect(await consentOf()).toMatchObject({ left: null, words_changed: [] });
    },
  );

  describe('one that is imported', () => {
    const at = (days: number) => new Date(Date.now() + days * DAY * 1000).toISOString();
    const run = (granted_at: string, by = user) =>
      service.app.get(ConsentImportService).run(
        JSON.stringify({
          client_id: client.id,
          user_id: by.id,
          scopes: [SCOPE],
          evidence: 'Contract 4711',
          granted_at,
        }),
        { dryRun: false },
      );

    it('after everyone was asked is asked for too if it was given before, and only then', async () => {
      await changeMeaning();
      await service.database.query(
        "UPDATE scopes SET meaning_changed_at = now() - interval '1 day' WHERE name = $1",
        [SCOPE],
      );
      await work();
      expect(await pending()).toEqual([]);
      const later = await service.make.user();
      await run(at(-0.5), later);
      expect(await pending()).toEqual([]);
      await run(at(-100));
      expect(await pending()).toEqual([SCOPE]);
      await work();
      expect(await consentOf()).toMatchObject({ words_changed: [SCOPE] });
      expect((await consentOf()).left).toBeLessThanOrEqual(14 * DAY);
      expect(await consentOf(client, later)).toMatchObject({ left: null, words_changed: [] });
      expect(await pending()).toEqual([]);
    });

    it('while others are asked is asked for too, by the next run', async () => {
      await changeMeaning();
      const repository = service.app.get(ChangedMeaningsRepository);
      const isAnyLeft = repository.isAnyLeft.bind(repository);
      const looking = jest.spyOn(repository, 'isAnyLeft').mockImplementationOnce(async (change, stretch) => {
        const found = await isAnyLeft(change, stretch);
        await run(at(-100));
        return found;
      });
      await service.app.get(ChangedMeanings).run();
      looking.mockRestore();
      expect(await pending()).toEqual([SCOPE]);
      await work();
      expect(await consentOf()).toMatchObject({ words_changed: [SCOPE] });
      expect(await pending()).toEqual([]);
    });
  });

  it('whoever agreed to the new words is asked again when they change again', async () => {
    await changeMeaning();
    await service.make.tokens(client, user);
    await changeMeaning();
    await work();
    expect(await consentOf()).toMatchObject({ words_changed: [SCOPE] });
  });

  it('a page that shows the old words is refused, also at the moment of the change', async () => {
    const browser = await service.make.signedIn(user);
    const page = await browser.open(consentPath());
    const changing = `WITH held AS (SELECT name FROM scopes WHERE name = $1 FOR UPDATE)
      UPDATE scopes SET description = 'Meanwhile', meaning_changed_at = clock_timestamp() FROM held WHERE scopes.name = held.name`;
    const agreeing = [() => browser.submit(page, '/o/authorize/', { decision: 'authorize' })];
    const [answer] = await whileHeld(service, [changing, [SCOPE]], agreeing, 'COMMIT');
    expect(answer!.status).toBe(409);
    expect(await service.database.query('SELECT 1 FROM consents WHERE user_id = $1', [user.id])).toEqual([]);
    expect((await browser.submit(page, '/o/authorize/', { decision: 'authorize' })).status).toBe(422);
  });

  it('a consent that is locked is asked later, and the change is not worked off before', async () => {
    await service.make.tokens(client, user);
    await changeMeaning();
    const hand = await connectionTo(service);
    await hand.query('BEGIN');
    await hand.query('SELECT 1 FROM consents WHERE user_id = $1 FOR UPDATE', [user.id]);
    expect(await service.app.get(ChangedMeanings).run()).toBe(0);
    expect(await pending()).toEqual([SCOPE]);
    await hand.query('COMMIT');
    expect(await service.app.get(ChangedMeanings).run()).toBe(1);
    expect(await pending()).toEqual([]);
  });

  it('an instance that dies in the middle leaves the consent as it was, and another one goes on', async () => {
    await service.make.tokens(client, user);
    await changeMeaning();
    const [first, second] = service.instances;
    jest.spyOn(first!.app.get(DomainEvents), 'say').mockRejectedValueOnce(new Error('killed'));
    await expect(first!.app.get(ChangedMeanings).run()).rejects.toThrow('killed');
    expect(await consentOf()).toMatchObject({ left: null, words_changed: [] });
    expect(await auditEventsOn(service, user.id, 'consent.updated')).toEqual([]);
    expect(await second!.app.get(ChangedMeanings).run()).toBe(1);
    expect(await consentOf()).toMatchObject({ words_changed: [SCOPE] });
  });

  /** Consents of 210 users, of whom the first has this number. */
  const agreeMany = (first: number) =>
    service.database.query(
      `WITH made AS (
         INSERT INTO users (id, email, email_key, name, kind, role)
         SELECT 'user' || left('01HN2NJ9NMRZBXT1' || lpad(n::text, 10, '0'), 26), 'many' || n || '@mail.example', 'many' || n || '@mail.example', 'Many', 'individual', 'user'
           FROM generate_series($3::int, $3 + 209) n RETURNING id
       )
       INSERT INTO consents (client_id, user_id, scopes) SELECT $1, id, ARRAY[$2] FROM made`,
      [client.id, SCOPE, first],
    );

  it('a service that stops asks no more than those of the batch that it has begun', async () => {
    await agreeMany(1);
    await changeMeaning();
    const [first, second] = service.instances;
    const stopping = new AbortController();
    const telling = jest.spyOn(first!.app.get(DomainEvents), 'say').mockImplementation(async () => {
      stopping.abort();
      return [];
    });
    expect(await first!.app.get(ChangedMeanings).run(stopping.signal)).toBe(100);
    telling.mockRestore();
    expect(await pending()).toEqual([SCOPE]);
    expect(await second!.app.get(ChangedMeanings).run()).toBe(110);
    expect(await pending()).toEqual([]);
  });

  it('all are asked, however many consents a statement looks at', async () => {
    await agreeMany(2001);
    await changeMeaning();
    const repository = service.app.get(ChangedMeaningsRepository);
    const placeAfter = repository.placeAfter.bind(repository);
    const few = jest.spyOn(repository, 'placeAfter').mockImplementation((after) => placeAfter(after, 7));
    expect(await service.app.get(ChangedMeanings).run()).toBe(210);
    expect(few.mock.calls.length).toBeGreaterThan(2 * 30);
    few.mockRestore();
    expect(await pending()).toEqual([]);
  });

  it('all are asked, once each, by instances that work at the same time, in batches', async () => {
    await agreeMany(1001);
    await changeMeaning();
    const counts = await Promise.all(service.instances.map(({ app }) => app.get(ChangedMeanings).run()));
    await work();
    expect(counts.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(210);
    const [found] = await service.database.query(
      `SELECT count(*)::int AS versions, count(DISTINCT user_id)::int AS users FROM consent_versions
        WHERE client_id = $1 AND reason = 'words_changed'`,
      [client.id],
    );
    expect(found).toEqual({ versions: 210, users: 210 });
    expect(await pending()).toEqual([]);
  });

  describe('in the console', () => {
    const { browser, submit, said } = setUpConsole(service);
    const EDIT = `/admin/console/scopes/${SCOPE}/edit`;

    it('the form says what happens, and refuses the same words', async () => {
      const page = await browser.open(EDIT);
      expect(page.text).toContain('14 days from now at the latest');
      const refused = await browser.submit(page, EDIT, { meaning_changed: 'true' });
      expect([refused.status, errorsIn(refused).meaning_changed]).toEqual([
        400,
        'Is only for another description.',
      ]);
      expect((await browser.open('/admin/console/scopes/new')).text).not.toContain('meaning_changed');
    });

    it('it is saved', async () => {
      const answer = await submit(EDIT, { description: `Words ${++counter}`, meaning_changed: 'true' });
      expect(await said(answer)).toContain('asked again');
      expect(await pending()).toEqual([SCOPE]);
      expect((await browser.open('/admin/console/scopes')).text).toContain('Users asked again since');
    });
  });
});
