import { randomUUID } from 'node:crypto';
import { ConsentExpiryService } from '#access/consents/consent-expiry.service.js';
import { keptWords } from '#access/consents/record/consent-words.js';
import { AccountDeletionsService } from '#access/users/closing/account-deletions.service.js';
import { ageConsents } from '../support/aged-consents.js';
import { authorizePath, REDIRECT_URI, until, useServiceWithMail } from '../support/spec.js';
import { receiptOf } from '../support/receipts.js';
import { columnsThatHold } from '../support/searched-database.js';
import { TYPE, WEBHOOK_ENV, Webhooks } from '../support/webhooks.js';
import { listOf } from '../support/list-of.js';

const NAME = 'Zenobia Storydriver';
const EMAIL = 'zenobia.storydriver@mail.example';

describe('The story of a consent', () => {
  const { service, smtp } = useServiceWithMail({ env: WEBHOOK_ENV });
  const webhooks = Webhooks.setUp(service);

  it('from a yes in French to an erasure, and the partner’s receiver saw each step', async () => {
    const client = await service.make.client({
      name: 'Northwind',
      optionalScopes: ['vehicle:read'],
      consentExpiryDays: 30,
    });
    const endpoint = await webhooks.endpoint(client, {
      types: [
        TYPE,
        'user.consent_granted',
        'user.consent_changed',
        'user.consent_expiring',
        'user.consent_expired',
        'user.consent_revoked',
        'user.deletion_requested',
      ],
    });
    const told = () =>
      webhooks
        .received(endpoint)
        .map(({ body }) => JSON.parse(body) as { type: string; data: { scopes?: string[] } });
    const isTold = (type: string, times = 1) =>
      until(`${type} was received`, () => told().filter((each) => each.type === type).length >= times);
    const user = await service.make.user({ name: NAME, email: EMAIL, emailVerified: true });
    const browser = await service.make.signedIn(user);
    const age = (days: number) => ageConsents(service.database, user.id, days);
    const agree = async () => {
      const page = await browser.open(
        authorizePath({
          response_type: 'code',
          client_id: client.id,
          redirect_uri: REDIRECT_URI,
          ui_locales: 'fr',
        }),
      );
      expect(page.html.querySelector('h1')!.text).toContain('à lire vos données de recharge');
      const { headers } = await browser.submit(page, '/o/authorize/', { decision: 'authorize' });
      return new URL(headers.get('location')!).searchParams.get('code')!;
    };

    // Agrees to one of two scopes, and gets the receipt.
    const { json: tokens } = await service.http.token({
      grant_type: 'authorization_code',
      client_id: client.id,
      client_secret: client.secret,
      redirect_uri: REDIRECT_URI,
      code: await agree(),
    });
    expect(tokens).toMatchObject({ scope: 'charging_session:read' });
    await isTold('user.consent_granted');
    const account = await browser.open('/account');
    const receiptPath = account.html
      .querySelectorAll('a')
      .map((link) => link.getAttribute('href')!)
      .find((href) => /^\/account\/receipts\/[0-9a-f-]{36}$/.test(href))!;
    const { receipt } = await receiptOf(browser, receiptPath.split('/').at(-1)!);
    expect(receipt).toMatchObject({ scopes: ['charging_session:read'], words: { language: 'fr' } });
    expect(`sha-256:${keptWords(JSON.parse(receipt.words!.text) as never).digest.toString('hex')}`).toBe(
      receipt.words!.digest,
    );

    // Sees what was read.
    await webhooks.publishOne(user.id);
    await isTold(TYPE);
    const reporter = await service.make.operatorClient(['token:introspect']);
    const reported = await service.http.send('/v2/disclosures', {
      bearer: await service.make.clientToken(reporter),
      json: {
        batch_id: randomUUID(),
        disclosures: [
          { client_id: client.id, user_id: user.id, scope: 'charging_session:read', requests: 12 },
        ],
      },
    });
    expect(reported.status).toBe(200);
    const history = (await browser.open(`/account/applications/${client.id}/history`)).html.querySelector(
      'main',
    )!.text;
    expect(history).toContain('12');

    // Lets it run out, after being told.
    await age(20);
    await service.app.get(ConsentExpiryService).run();
    await isTold('user.consent_expiring');
    await age(11);
    await service.app.get(ConsentExpiryService).run();
    await isTold('user.consent_expired');
    expect((await browser.open('/account')).text).not.toContain(`/account/applications/${client.id}/access`);

    // Agrees again, gives more, and takes it back.
    await agree();
    await isTold('user.consent_granted', 2);
    const access = `/account/applications/${client.id}/access`;
    await browser.submit(await browser.open(access), access, { optional_scope: 'vehicle:read' });
    await isTold('user.consent_granted', 3);
    await browser.submit(await browser.open(access), access, { optional_scope: [] });
    await isTold('user.consent_changed');

    // Takes everything along.
    await browser.fillIn('/account/export');
    const mails = () => smtp.to(EMAIL).filter(({ html }) => html.includes('/account/export/'));
    await until('the link has arrived', () => mails().length > 0);
    const link = new URL(mails()[0]!.link).pathname;
    const file = (await browser.submit(await browser.open(link), link)).text;
    expect(JSON.parse(file)).toMatchObject({ user_id: user.id });
    expect(file).toContain(receipt.record_id);

    // Leaves.
    await browser.fillIn('/account/delete', { email: EMAIL });
    await isTold('user.deletion_requested');
    await service.database.query("UPDATE account_deletions SET due_at = now() - interval '1 second'");
    await service.app.get(AccountDeletionsService).eraseDue();
    await isTold('user.consent_revoked');
    expect(told().map(({ type }) => type)).toEqual([
      'user.consent_granted',
      TYPE,
      'user.consent_expiring',
      'user.consent_expired',
      'user.consent_granted',
      'user.consent_granted',
      'user.consent_changed',
      'user.deletion_requested',
      'user.consent_revoked',
    ]);
    await until(
      'nothing is left',
      async () => (await columnsThatHold(service, [NAME, EMAIL, 'storydriver'])).length === 0,
    );
    // The record of what was agreed stays, under an id that leads nowhere.
    const record = await service.database.query<{ event: string; reason: string | null }>(
      'SELECT event, reason FROM consent_versions WHERE user_id = $1 ORDER BY number',
      [user.id],
    );
    expect(record.map(({ event, reason }) => reason ?? event)).toEqual(
      listOf(`
      given, expired, given, changed, changed, user_erased
    `),
    );
  });
});
