import { createHash } from 'node:crypto';
import { DataSource } from 'typeorm';
import type { ConsentWords } from '#access/consents/record/consent-words.js';
import { ConsentsService } from '#access/consents/consents.service.js';
import { ConsentApprovals } from '#access/consents/consent-approvals.service.js';
import { sandboxOf } from '#events/sandbox/driver.js';
import { DriversService } from '#events/sandbox/drivers.service.js';
import { SERVICE_ACTOR } from '#records/audit/audit.service.js';
import { withoutTriggers } from '../support/without-triggers.js';
import { authorizePath, BrowserSession, madeForEach, useSharedService } from '../support/spec.js';
import { REDIRECT_URI, type TestClient } from '../support/factory.js';
import { leaveOutScheduledPurges } from '../support/scheduled-work.js';

interface Version {
  id: string;
  number: number;
  replaces: string | null;
  event: string;
  scopes: string[];
  method: string;
  reason: string | null;
  client_name: string;
  language: string | null;
  words_digest: Buffer | null;
  evidence: string | null;
  evidence_digest: Buffer | null;
  forgotten_at: Date | null;
}

const service = useSharedService();
const requestOf = (client: TestClient, scope?: string) => ({
  response_type: 'code',
  client_id: client.id,
  redirect_uri: REDIRECT_URI,
  scope,
});
const consentPage = (browser: BrowserSession, client: TestClient, scope?: string) =>
  browser.open(authorizePath(requestOf(client, scope)));
/** Agrees on the page, and returns it. */
const agree = async (browser: BrowserSession, client: TestClient, scope = 'vehicle:read') => {
  const page = await consentPage(browser, client, scope);
  await browser.submit(page, '/o/authorize/', { decision: 'authorize' });
  return page;
};
/** As the service does, with its own role. */
const asService = (sql: string): Promise<unknown> => service.app.get(DataSource).query(sql);

describe('The record of consents refuses', () => {
  beforeAll(async () => void (await agree(await service.make.signedInNew(), await service.make.client())));

  it.each([
    ['UPDATE', "UPDATE consent_versions SET scopes = '{}'"],
    ['DELETE', 'DELETE FROM consent_versions'],
    ['UPDATE of words', "UPDATE consent_words SET words = '{}'"],
    ['DELETE of words', 'DELETE FROM consent_words'],
  ])('%s by the role of the service', async (_what, statement) => {
    await expect(asService(statement)).rejects.toMatchObject({ code: '42501' });
  });

  it.each(
    Object.entries({
      UPDATE: "UPDATE consent_versions SET scopes = '{}'",
      'forgetting a user who is still there':
        'UPDATE consent_versions SET evidence = NULL, forgotten_at = now()',
      DELETE: 'DELETE FROM consent_versions',
      TRUNCATE: 'TRUNCATE consent_versions',
      'UPDATE of words': "UPDATE consent_words SET language = 'fr'",
      'DELETE of words': 'DELETE FROM consent_words',
    }),
  )('%s by the owner of the schema', async (_what, statement) => {
    await expect(service.database.query(statement)).rejects.toThrow('cannot be changed');
  });

  it('words that do not have their digest', async () => {
    await expect(
      service.database.query("INSERT INTO consent_words VALUES (sha256('a'), 'en', 'b')"),
    ).rejects.toThrow('violates check constraint');
  });
});

describe('The record of consents', () => {
  const client = madeForEach(() => service.make.client({ name: 'Charge Planner' }));
  const user = madeForEach(() => service.make.user({ name: 'Dana Driver' }));
  const browser = madeForEach(() => service.make.signedIn(user));

  const versions = (): Promise<Version[]> =>
    service.database.query<Version>(
      'SELECT * FROM consent_versions WHERE user_id = $1 ORDER BY client_id, number',
      [user.id],
    );
  const authorize = (scope?: string) => agree(browser, client, scope);

  it('has every state of a consent, with the words that were shown', async () => {
    const page = await authorize();
    await authorize('charging_session:read vehicle:read');
    await service.app.get(ConsentsService).withdraw(client.id, user.id, { type: 'user', id: user.id });

    const [first, second, third] = await versions();
    expect([first, second, third]).toMatchObject([
      { number: 1, replaces: null, event: 'given', scopes: ['vehicle:read'], method: 'page', language: 'en' },
      { number: 2, replaces: first!.id, event: 'changed', scopes: ['charging_session:read', 'vehicle:read'] },
      {
        number: 3,
        replaces: second!.id,
        event: 'ended',
        method: 'account',
        reason: 'withdrawn',
        words_digest: null,
      },
    ]);
    const [kept] = await service.database.query<{ words: string }>(
      'SELECT words FROM consent_words WHERE digest = $1',
      [first!.words_digest],
    );
    const words = JSON.parse(kept!.words) as ConsentWords;
    for (const text of [words.heading, ...words.access.map((each) => each.words), ...words.notes])
      expect(page.text.replace(/<[^>]+>/g, '')).toContain(text);
  });

  it('keeps the words of a page once, for all who saw them', async () => {
    await authorize();
    await agree(await service.make.signedInNew(), client);
    const [row] = await service.database.query<{ words: number; versions: number }>(
      `SELECT count(DISTINCT words_digest)::int AS words, count(*)::int AS versions FROM consent_versions WHERE client_id = $1`,
      [client.id],
    );
    expect(row).toEqual({ words: 1, versions: 2 });
  });

  it('shows the page again, and records nothing, if its words changed while it was open', async () => {
    const page = await consentPage(browser, client);
    await service.make.updateClient(client, { name: 'Charge Planner Plus' });
    const answer = await browser.submit(page, '/o/authorize/', { decision: 'authorize' });
    expect(answer.status).toBe(422);
    expect(answer.text).toContain('What this page says has changed since you opened it.');
    expect(await versions()).toEqual([]);
    expect((await browser.submit(answer, '/o/authorize/', { decision: 'authorize' })).status).toBe(303);
    expect(await versions()).toHaveLength(1);
  });

  describe('does not take words that nobody was shown: the page comes again (422) if its form does not say which it showed,', () => {
    const access = () => `/account/applications/${client.id}/access`;
    const pages: [
      string,
      () => Promise<{ by: BrowserSession; path: string; action: string; fields?: object }>,
    ][] = [
      [
        'that of an authorization',
        async () => ({ by: browser, path: authorizePath(requestOf(client)), action: '/o/authorize/' }),
      ],
      [
        'that of what an application may read',
        async () => {
          await authorize();
          return { by: browser, path: access(), action: access() };
        },
      ],
      [
        'that of a sandbox',
        async () => {
          const inSandbox = await service.make.client({ environment: 'sandbox' });
          const driver = await service.app
            .get(DriversService)
            .create(sandboxOf(inSandbox)!, {}, SERVICE_ACTOR);
          const by = new BrowserSession(service.url);
          const fields = { driver: driver.id };
          return { by, path: authorizePath(requestOf(inSandbox)), action: '/o/authorize/', fields };
        },
      ],
    ];
    const recorded = () =>
      service.database.query('SELECT id, words_digest FROM consent_versions ORDER BY id');

    it.each(pages)('%s', async (_what, make) => {
      const { by, path, action, fields } = await make();
      const before = await recorded();
      const page = await by.open(path);
      for (const words of [undefined, '', '0'.repeat(64)]) {
        const answer = await by.submit(page, action, { decision: 'authorize', ...fields, words });
        expect([words, answer.status]).toEqual([words, 422]);
        expect(answer.text).toContain('What this page says has changed since you opened it.');
        expect(answer.html.querySelector(`form[action="${action}"] input[name=words]`)).not.toBeNull();
      }
      expect(await recorded()).toEqual(before);
      expect((await by.submit(page, action, { decision: 'authorize', ...fields })).status).toBe(303);
      expect(await recorded()).toHaveLength(before.length + 1);
    });
  });

  it('says who recorded a consent for a user, with the proof, and why it ended', async () => {
    const actor = { type: 'user', id: (await service.make.user({ role: 'operator' })).id } as const;
    await service.app
      .get(ConsentApprovals)
      .record(client.id, user.id, ['vehicle:read'], 'Contract 17, page 2', actor);
    await service.app.get(ConsentsService).revoke(client.id, user.id, actor);
    const digest = createHash('sha256').update('Contract 17, page 2').digest();
    expect(await versions()).toMatchObject([
      {
        event: 'given',
        method: 'operator',
        recorded_by: actor.id,
        evidence_digest: digest,
        words_digest: null,
      },
      { event: 'ended', method: 'operator', recorded_by: actor.id, reason: 'revoked_by_operator' },
    ]);
  });

  it('says that consents end when their client is deleted', async () => {
    await authorize();
    await service.database.query('DELETE FROM clients WHERE id = $1', [client.id]);
    expect(await versions()).toMatchObject([
      { event: 'given' },
      { event: 'ended', method: 'service', reason: 'client_deleted', client_name: 'Charge Planner' },
    ]);
  });

  it('stays when the person is erased, without what an operator wrote', async () => {
    await service.app
      .get(ConsentApprovals)
      .record(client.id, user.id, ['vehicle:read'], 'Dana Driver signed', SERVICE_ACTOR);
    await service.make.eraseUser(user);
    const found = await versions();
    expect(found).toMatchObject([
      { event: 'given', evidence: null, forgotten_at: expect.any(Date) as Date },
      { event: 'ended', method: 'service', reason: 'user_erased', evidence: null },
    ]);
    expect(found[0]!.evidence_digest).toEqual(createHash('sha256').update('Dana Driver signed').digest());
    expect(JSON.stringify(found)).not.toContain('Dana');
  });

  it('goes five years after the end of a consent, and not while it goes on', async () => {
    await leaveOutScheduledPurges(service);
    await authorize();
    const other = await service.make.client();
    await service.make.consent(other, user);
    await service.make.revokeConsent(other, user);
    // As if it had all been recorded long ago.
    await withoutTriggers(service.database, () =>
      service.database.query(
        "UPDATE consent_versions SET recorded_at = now() - interval '1827 days' WHERE user_id = $1",
        [user.id],
      ),
    );
    await asService("SELECT purge_consent_versions('-infinity', 100)");
    expect((await versions()).map((version) => version.method)).toEqual(['page']);
  });
});
