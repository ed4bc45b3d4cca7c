import { SERVICE_ACTOR } from '#records/audit/audit.service.js';
import { ChangedMeanings } from '#access/consents/changed-meanings.service.js';
import { ConsentExpiryRepository } from '#access/consents/consent-expiry.repository.js';
import { ConsentExpiryService } from '#access/consents/consent-expiry.service.js';
import { ConsentApprovals } from '#access/consents/consent-approvals.service.js';
import { ConsentImportService } from '#access/consents/import/consent-import.service.js';
import { ConsentsService } from '#access/consents/consents.service.js';
import { AccessChanges } from '#platform/database/changes/access-changes.service.js';
import { changesRead } from '../support/changes-read.js';
import { ageConsents } from '../support/aged-consents.js';
import { authorizePath, isAccepted, madeForEach, REDIRECT_URI, refresh } from '../support/spec.js';
import { atEndOfFile } from '../support/between-files.js';
import { Settings } from '#platform/config/settings.js';
import { leaveOutSchedule } from '../support/scheduled-work.js';
import { startInstance, useSharedService } from '../support/test-service.js';
import { withoutTriggers } from '../support/without-triggers.js';

const DAY = 86_400;

describe('A consent that ends by itself', () => {
  const service = useSharedService({ instances: 2 });
  beforeAll(async () => {
    await leaveOutSchedule(service, ConsentExpiryService);
    // Of other files.
    await work();
  });
  const client = madeForEach(() => service.make.client({ consentExpiryDays: 90 }));
  const user = madeForEach(() => service.make.user());

  const work = async () => {
    const all = await Promise.all(service.instances.map(({ app }) => app.get(ConsentExpiryService).run()));
    // Each has read what the other changed.
    await changesRead(service);
    return {
      told: all.reduce((sum, { told }) => sum + told, 0),
      ended: all.reduce((sum, { ended }) => sum + ended, 0),
    };
  };
  const age = (days: number) => ageConsents(service.database, user.id, days);
  const events = async (): Promise<unknown[]> =>
    (
      await service.database.query<{ type: string; data: unknown }>(
        `SELECT type, payload::jsonb -> 'data' AS data FROM events WHERE user_id = $1 ORDER BY id`,
        [user.id],
      )
    ).map(({ type, data }) => [type, data]);
  const notices = () =>
    service.database
      .query<{ message_id: string }>('SELECT message_id FROM notifications WHERE user_id = $1 ORDER BY id', [
        user.id,
      ])
      .then((rows) => rows.map((row) => row.message_id));
  const receive = () =>
    service.database.query(
      `INSERT INTO webhook_endpoints (id, client_id, url, event_types, sealed_secret)
       VALUES ('endp' || substr($1, 5), $1, 'http://127.0.0.1:9/', '{user.consent_granted,user.consent_changed,user.consent_expiring,user.consent_expired}', '\\x00')`,
      [client.id],
    );
  afterEach(() =>
    service.database.query('UPDATE webhook_endpoints SET deleted_at = now() WHERE client_id = $1', [
      client.id,
    ]),
  );

  it('limits what is issued for it, and says so in the token response', async () => {
    const tokens = await service.make.tokens(client, user);
    expect(tokens).toMatchObject({ refresh_token_expires_in: 30 * DAY });
    const { authorization_expires_in: left } = tokens as unknown as Record<string, number>;
    expect([left! <= 90 * DAY, left! > 89 * DAY]).toEqual([true, true]);
    await age(75);
    const other = await service.make.client();
    expect(await service.make.tokens(other, user)).toMatchObject({ authorization_expires_in: 365 * DAY });
  });

  it('is told of once, before it ends, to the user and to the client', async () => {
    await service.make.tokens(client, user);
    await receive();
    expect(await work()).toEqual({ told: 0, ended: 0 });
    await age(75);
    expect(await work()).toEqual({ told: 0, ended: 0 });
    await age(2);
    expect(await work()).toEqual({ told: 1, ended: 0 });
    expect(await work()).toEqual({ told: 0, ended: 0 });
    expect(await notices()).toContain('ERR2407');
    const account = await (await service.make.signedIn(user)).open('/account');
    expect(account.text).toContain('Renew');
  });

  it('is told of, however many ends a statement looks at', async () => {
    const users = [user, await service.make.user(), await service.make.user()];
    for (const [n, each] of users.entries()) {
      await service.make.consent(client, each);
      await ageConsents(service.database, each.id, 80 + n);
    }
    const repository = service.app.get(ConsentExpiryRepository);
    const placeAfter = repository.placeAfter.bind(repository);
    const one = jest
      .spyOn(repository, 'placeAfter')
      .mockImplementation((days, after) => placeAfter(days, after, 1));
    expect(await service.app.get(ConsentExpiryService).run()).toEqual({ told: 3, ended: 0 });
    expect(one.mock.calls.length).toBeGreaterThan(3);
    one.mockRestore();
    expect(await work()).toEqual({ told: 0, ended: 0 });
  });

  it('ends with everything that depends on it, once, whatever the number of instances', async () => {
    const tokens = await service.make.tokens(client, user);
    await age(91);
    // Even before anyone has noticed.
    expect(await service.app.get(ConsentsService).findSharing(client.id, user.id)).toBeUndefined();
    expect(await work()).toMatchObject({ ended: 1 });
    expect(await isAccepted(service.http, tokens.access_token)).toBe(false);
    const refused = await refresh(service.http, client, tokens.refresh_token);
    expect(refused.json).toMatchObject({ error: 'invalid_grant' });
    expect(await work()).toEqual({ told: 0, ended: 0 });
    expect(await notices()).toContain('ERR2408');
    const versions = await service.database.query(
      'SELECT event, method, reason FROM consent_versions WHERE user_id = $1 ORDER BY number DESC LIMIT 1',
      [user.id],
    );
    expect(versions).toEqual([{ event: 'ended', method: 'schedule', reason: 'expired' }]);
    const audited = await service.database.query(
      `SELECT actor_type FROM audit_events WHERE subject_id = $1 AND action = 'consent.expired'`,
      [user.id],
    );
    expect(audited).toEqual([{ actor_type: 'service' }]);
  });

  it('ends although another one does not, and although changed words cannot be looked for', async () => {
    const other = await service.make.user();
    for (const each of [user, other]) {
      await service.make.consent(client, each);
      await ageConsents(service.database, each.id, 91);
    }
    const { app } = service;
    const failing = [
      jest.spyOn(app.get(ChangedMeanings), 'run').mockRejectedValueOnce(new Error('cut off')),
      jest.spyOn(app.get(ConsentsService), 'expire').mockRejectedValueOnce(new Error('locked')),
    ];
    await expect(app.get(ConsentExpiryService).run()).rejects.toThrow('cut off');
    for (const each of failing) each.mockRestore();
    const left = () =>
      service.database.value<number>(
        'SELECT count(*)::int AS n FROM consents WHERE client_id = $1 AND revoked_at IS NULL',
        [client.id],
      );
    expect(await left()).toBe(1);
    await work();
    expect(await left()).toBe(0);
  });

  it('ends although more than are looked up at once expired earlier, and cannot be ended', async () => {
    const others = await Promise.all(Array.from({ length: 100 }, () => service.make.user()));
    for (const each of others) await service.make.consent(client, each);
    await service.make.consent(client, user);
    await withoutTriggers(service.database, () =>
      service.database.query(
        `UPDATE consents SET granted_at = granted_at - age, expires_at = expires_at - age
           FROM (VALUES (true, interval '91 days'), (false, interval '92 days')) ages (is_last, age)
          WHERE client_id = $2 AND (user_id = $1) = is_last`,
        [user.id, client.id],
      ),
    );
    const consents = service.app.get(ConsentsService);
    const expire = consents.expire.bind(consents);
    const failing = jest
      .spyOn(consents, 'expire')
      .mockImplementation((clientId, userId) =>
        userId === user.id ? expire(clientId, userId) : Promise.reject(new Error('locked')),
      );
    await expect(service.app.get(ConsentExpiryService).run()).rejects.toThrow('locked');
    expect(failing).toHaveBeenCalledTimes(101);
    failing.mockRestore();
    expect(await work()).toMatchObject({ ended: 100 });
  });

  it('ends on another instance if this one stops', async () => {
    for (const each of [user, await service.make.user()]) {
      await service.make.consent(client, each);
      await ageConsents(service.database, each.id, 91);
    }
    const { app } = await startInstance(service.database, {});
    const [worker, consents] = [app.get(ConsentExpiryService), app.get(ConsentsService)];
    const expire = consents.expire.bind(consents);
    jest.spyOn(consents, 'expire').mockImplementation((...ids) => {
      void worker.beforeApplicationShutdown();
      return expire(...ids);
    });
    expect(await worker.run()).toMatchObject({ ended: 1 });
    await app.close();
    expect(await work()).toMatchObject({ ended: 1 });
  });

  it('goes on when the user renews it, with the tokens that there are', async () => {
    const tokens = await service.make.tokens(client, user);
    await age(80);
    await service.database.query(
      `UPDATE grants SET expires_at = expires_at - interval '80 days', refresh_expires_at = least(refresh_expires_at, expires_at - interval '80 days') WHERE user_id = $1`,
      [user.id],
    );
    const browser = await service.make.signedIn(user);
    const path = `/account/applications/${client.id}/access`;
    const page = await browser.open(path);
    expect(page.text).toContain('Access ends on');
    expect((await browser.submit(page, path)).status).toBe(303);
    expect(await work()).toEqual({ told: 0, ended: 0 });
    const { json } = await refresh(service.http, client, tokens.refresh_token);
    expect(json.authorization_expires_in).toBeGreaterThan(89 * DAY);
    const [version] = await service.database.query<{ event: string; method: string; words_digest: Buffer }>(
      'SELECT event, method, words_digest FROM consent_versions WHERE user_id = $1 ORDER BY number DESC LIMIT 1',
      [user.id],
    );
    expect(version).toMatchObject({ event: 'changed', method: 'account' });
    expect(version!.words_digest).not.toBeNull();
  });

  it('goes on when it is renewed on an instance whose clock says that it has ended', async () => {
    await receive();
    await service.make.tokens(client, user);
    await age(89);
    const consents = service.app.get(ConsentApprovals);
    const clock = jest.spyOn(Date, 'now').mockReturnValue(Date.now() + 2 * DAY * 1000);
    try {
      await consents.record(client.id, user.id, client.scopes, null, SERVICE_ACTOR);
    } finally {
      clock.mockRestore();
    }
    const actions = await service.database.column<string>(
      `SELECT action FROM audit_events WHERE subject_id = $1 AND action LIKE 'consent.%' ORDER BY id`,
      [user.id],
    );
    expect(actions).toEqual(['consent.granted', 'consent.updated']);
    expect((await events()).map((event) => (event as [string])[0])).toEqual([
      'user.consent_granted',
      'user.consent_changed',
    ]);
  });

  it.each(
    Object.entries<() => Promise<unknown>>({
      'the user agrees again': async () => {
        const browser = await service.make.signedIn(user);
        const page = await browser.open(
          authorizePath({ response_type: 'code', client_id: client.id, redirect_uri: REDIRECT_URI }),
        );
        return browser.submit(page, '/o/authorize/', { decision: 'authorize' });
      },
      'an operator records it again': () => service.make.consent(client, user),
    }),
  )('does not go on when %s after its end, before anyone has noticed the end', async (_who, agree) => {
    await receive();
    const tokens = await service.make.tokens(client, user);
    await age(91);
    await agree();
    const { json } = await refresh(service.http, client, tokens.refresh_token);
    expect(json).toMatchObject({ error: 'invalid_grant' });
    const versions = await service.database.query(
      'SELECT event, reason FROM consent_versions WHERE user_id = $1 ORDER BY number',
      [user.id],
    );
    expect(versions).toEqual([
      { event: 'given', reason: null },
      { event: 'ended', reason: 'expired' },
      { event: 'given', reason: null },
    ]);
    // Nothing of the time in between is the client's.
    expect(
      await service.database.value<boolean>(
        'SELECT granted_at = ALL (scopes_granted_at) FROM consents WHERE user_id = $1',
        [user.id],
      ),
    ).toBe(true);
    expect((await events()).map((event) => (event as [string])[0])).toEqual([
      'user.consent_granted',
      'user.consent_expired',
      'user.consent_granted',
    ]);
    expect(await work()).toEqual({ told: 0, ended: 0 });
  });

  it('is over, not revoked, for those who end it before anyone has noticed', async () => {
    await receive();
    const consents = service.app.get(ConsentsService);
    await service.make.consent(client, user);
    await age(91);
    await expect(consents.revoke(client.id, user.id, SERVICE_ACTOR)).rejects.toMatchObject({ status: 404 });
    await service.make.consent(client, user);
    await age(91);
    await consents.withdraw(client.id, user.id, SERVICE_ACTOR);
    const reasons = await service.database.column<string>(
      `SELECT reason FROM consent_versions WHERE user_id = $1 AND event = 'ended' ORDER BY number`,
      [user.id],
    );
    expect(reasons).toEqual(['expired', 'expired']);
    const types = (await events()).map((event) => (event as [string])[0]);
    expect(types.filter((type) => type !== 'user.consent_granted')).toEqual([
      'user.consent_expired',
      'user.consent_expired',
    ]);
    expect((await notices()).filter((id) => id === 'ERR2408')).toHaveLength(2);
    expect(await work()).toEqual({ told: 0, ended: 0 });
  });

  it('is renewed by authorizing the application again', async () => {
    await service.make.tokens(client, user);
    await age(80);
    const browser = await service.make.signedIn(user);
    const page = await browser.open(
      authorizePath({ response_type: 'code', client_id: client.id, redirect_uri: REDIRECT_URI }),
    );
    expect(page.text).toContain('What you agree to holds for 90 days, unless you renew it.');
    await browser.submit(page, '/o/authorize/', { decision: 'authorize' });
    expect(await work()).toEqual({ told: 0, ended: 0 });
  });

  it('is not renewed by authorizing only a part of it, which the page and the record say', async () => {
    await service.make.tokens(client, user);
    await age(80);
    const browser = await service.make.signedIn(user);
    const query = { response_type: 'code', client_id: client.id, redirect_uri: REDIRECT_URI };
    const page = await browser.open(authorizePath({ ...query, scope: 'vehicle:read' }));
    expect(page.text).not.toContain('holds for 90 days');
    expect(page.text).toContain('What you agree to ends together with what you agreed to before.');
    expect((await browser.submit(page, '/o/authorize/', { decision: 'authorize' })).status).toBe(303);
    const [left] = await service.database.column<number>(
      'SELECT ceil(extract(epoch FROM expires_at - now()) / 86400)::int FROM consents WHERE user_id = $1',
      [user.id],
    );
    expect(left).toBe(10);
    // What it lacked is added, and ends with the rest.
    await service.database.query(
      "UPDATE consents SET scopes = '{charging_session:read}' WHERE user_id = $1",
      [user.id],
    );
    const more = await browser.open(authorizePath({ ...query, scope: 'vehicle:read' }));
    await browser.submit(more, '/o/authorize/', { decision: 'authorize' });
    expect(
      await service.database.column(
        'SELECT cardinality(scopes) * 100 + ceil(extract(epoch FROM expires_at - now()) / 86400)::int FROM consents WHERE user_id = $1',
        [user.id],
      ),
    ).toEqual([210]);
  });

  it('publishes what happens as events', async () => {
    await receive();
    await service.make.tokens(client, user);
    await age(80);
    await work();
    await age(20);
    await work();
    const found = await events();
    expect(found.map((event) => (event as [string])[0])).toEqual([
      'user.consent_granted',
      'user.consent_expiring',
      'user.consent_expired',
    ]);
    expect(found[2]).toEqual([
      'user.consent_expired',
      { client_id: client.id, scopes: [], expires_at: expect.any(String) as string },
    ]);
  });

  it('publishes events with the time of the database, not with that of the instance', async () => {
    await service.make.tokens(client, user);
    const { app } = service;
    const now = jest.spyOn(app.get(AccessChanges), 'databaseNow', 'get').mockReturnValue(Date.UTC(2040, 0));
    await app
      .get(ConsentsService)
      .revoke(client.id, user.id, SERVICE_ACTOR)
      .finally(() => now.mockRestore());
    const times = await service.database.column<string>(
      `SELECT payload::jsonb ->> 'timestamp' FROM events WHERE user_id = $1 AND type = 'user.consent_revoked'`,
      [user.id],
    );
    expect(times).toEqual(['2040-01-01T00:00:00.000Z']);
  });

  it('does not give its grants another life of their own when it is renewed after settings have changed', async () => {
    await service.make.tokens(client, user);
    const ends = async () => {
      const [row] = await service.database.query<Record<string, number>>(
        `SELECT round(extract(epoch FROM expires_at - created_at) / 86400)::int AS grant,
                round(extract(epoch FROM refresh_expires_at - created_at) / 86400)::int AS refresh FROM grants WHERE user_id = $1`,
        [user.id],
      );
      return [row!.grant, row!.refresh];
    };
    const renewed = async (days: number | null) => {
      await service.database.query('UPDATE clients SET consent_expiry_days = $1 WHERE id = $2', [
        days,
        client.id,
      ]);
      const browser = await service.make.signedIn(user);
      await browser.fillIn(`/account/applications/${client.id}/access`);
      return ends();
    };
    expect(await ends()).toEqual([90, 30]);
    const settings = service.app.get(Settings);
    const { grantTtl, refreshTokenTtl } = settings;
    Object.assign(settings, { grantTtl: 5 * DAY, refreshTokenTtl: 2 * DAY });
    atEndOfFile(() => void Object.assign(settings, { grantTtl, refreshTokenTtl }));
    expect(await renewed(120)).toEqual([120, 30]);
    expect(await renewed(700)).toEqual([365, 30]);
    // Of a build that did not note it.
    await service.database.query('UPDATE grants SET own_end = NULL WHERE user_id = $1', [user.id]);
    expect(await renewed(60)).toEqual([5, 5]);
  });

  it('is told of as long before as its own length says, whatever its client has been set to since', async () => {
    await service.make.tokens(client, user);
    await service.make.updateClient(client, { consentExpiryDays: 4 });
    await age(77);
    expect(await work()).toEqual({ told: 1, ended: 0 });
  });

  it('is told of after half of what it holds since it was renewed', async () => {
    const brief = await service.make.client({ consentExpiryDays: 20 });
    await service.make.tokens(brief, user);
    await age(8);
    const browser = await service.make.signedIn(user);
    await browser.fillIn(`/account/applications/${brief.id}/access`);
    await age(9);
    expect(await work()).toEqual({ told: 0, ended: 0 });
    await age(2);
    expect(await work()).toEqual({ told: 1, ended: 0 });
  });

  it('is told of by the time since it was given elsewhere, if it was imported with an end', async () => {
    const endless = await service.make.client({ consentExpiryDays: null });
    const at = (days: number) => new Date(Date.now() + days * DAY * 1000).toISOString();
    const line = {
      client_id: endless.id,
      user_id: user.id,
      scopes: ['vehicle:read'],
      evidence: 'Contract 4711',
    };
    const times = { granted_at: at(-100), expires_at: at(12) };
    await service.app.get(ConsentImportService).run(JSON.stringify({ ...line, ...times }), { dryRun: false });
    expect(await work()).toEqual({ told: 1, ended: 0 });
  });

  it('is not told of at once if it holds only for a few days', async () => {
    await service.make.tokens(await service.make.client({ consentExpiryDays: 4 }), user);
    expect(await work()).toEqual({ told: 0, ended: 0 });
    await age(3);
    expect(await work()).toEqual({ told: 1, ended: 0 });
  });
});
