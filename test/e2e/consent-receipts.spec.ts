import { createHash, createPublicKey, verify } from 'node:crypto';
import type { Settings } from '#platform/config/settings.js';
import { ReceiptKeysRepository } from '#features/consent-receipts/receipt-keys.repository.js';
import { ReceiptKeysService } from '#features/consent-receipts/receipt-keys.service.js';
import { ConsentApprovals } from '#access/consents/consent-approvals.service.js';
import { ConsentsService } from '#access/consents/consents.service.js';
import { authorizePath, madeForEach, REDIRECT_URI, useSharedService } from '../support/spec.js';
import { receiptOf } from '../support/receipts.js';

const service = useSharedService();

describe('A consent has receipts', () => {
  const client = madeForEach(() => service.make.client({ name: 'Charge Planner' }));
  const user = madeForEach(() => service.make.user({ name: 'Dana Driver' }));
  const browser = madeForEach(() => service.make.signedIn(user));

  const versions = (): Promise<{ id: string }[]> =>
    service.database.query<{ id: string }>(
      'SELECT id FROM consent_versions WHERE user_id = $1 ORDER BY client_id, number',
      [user.id],
    );
  const authorize = async (scope = 'vehicle:read') => {
    const page = await browser.open(
      authorizePath({
        response_type: 'code',
        client_id: client.id,
        redirect_uri: REDIRECT_URI,
        scope,
      }),
    );
    await browser.submit(page, '/o/authorize/', { decision: 'authorize' });
  };

  it('only to the person', async () => {
    await authorize();
    const [version] = await versions();
    const stranger = await service.make.signedInNew();
    for (const path of [version!.id, `${version!.id}/file`, `of/${client.id}`, 'no-uuid'])
      expect((await stranger.open(`/account/receipts/${path}`)).status).toBe(404);
  });

  it('that are linked on the account page, also after the application is disconnected', async () => {
    await authorize();
    const [version] = await versions();
    expect((await browser.open('/account')).text).toContain(`href="/account/receipts/${version!.id}"`);
    await service.make.revokeConsent(client, user);
    expect((await browser.open('/account/receipts')).text).toContain('Charge Planner');
    const all = await browser.open(`/account/receipts/of/${client.id}`);
    expect(all.text).toContain('You agreed');
    expect(all.text).toContain('The sharing ended');
    const page = await browser.open(`/account/receipts/${version!.id}`);
    expect(page.text).toContain('The words that you saw');
    expect(page.text).toContain('Download receipt');
  });

  it('in pages, of one application by version and of all by application', async () => {
    await authorize();
    await authorize('charging_session:read vehicle:read');
    await service.make.consent(await service.make.client({ name: 'Second' }), user);
    const next = async (path: string) => {
      const page = await browser.open(`${path}?page_size=1`);
      const link = page.html.querySelector('a[rel="next"]')!.getAttribute('href')!;
      return (await browser.open(link)).html.querySelectorAll('.entries h2').map(({ text }) => text);
    };
    expect(await next(`/account/receipts/of/${client.id}`)).toEqual(['You agreed']);
    expect(await next('/account/receipts')).toEqual(['Second']);
    for (const after of ['0', client.id, 'x']) {
      const refused = await browser.open(`/account/receipts/of/${client.id}?page_after=${after}`);
      expect(refused.status).toBe(400);
    }
  });

  it('that anyone can verify with the published key', async () => {
    await authorize();
    const [version] = await versions();
    const signed = await receiptOf(browser, version!.id);
    const { keys } = (await service.http.get('/.well-known/consent-receipts/jwks.json')).json as {
      keys: { kid: string }[];
    };
    const { kid } = JSON.parse(Buffer.from(signed.protected, 'base64url').toString()) as { kid: string };
    const jwk = keys.find((key) => key.kid === kid)!;
    const isGenuine = (payload: string) =>
      verify(
        null,
        Buffer.from(`${signed.protected}.${payload}`),
        createPublicKey({ key: jwk, format: 'jwk' }),
        Buffer.from(signed.signature, 'base64url'),
      );
    expect(isGenuine(signed.payload)).toBe(true);
    expect(JSON.parse(Buffer.from(signed.payload, 'base64url').toString())).toEqual(signed.receipt);
    const forged = { ...signed.receipt, scopes: ['charging_session:read'] };
    expect(isGenuine(Buffer.from(JSON.stringify(forged)).toString('base64url'))).toBe(false);
    const { text, digest } = signed.receipt.words!;
    expect(digest).toBe(`sha-256:${createHash('sha256').update(text).digest('hex')}`);
    expect(signed.receipt).toMatchObject({
      pii_principal_id: user.id,
      recipient: { client_id: client.id, name: 'Charge Planner' },
      event: { type: 'given', method: 'page' },
      scopes: ['vehicle:read'],
      valid_until: null,
    });
  });

  it('are signed with another key each year, and the keys before stay published and open under a new ENCRYPTION_KEY', async () => {
    await authorize();
    const [version] = await versions();
    await receiptOf(browser, version!.id);
    const repository = service.app.get(ReceiptKeysRepository, { strict: false });
    const [old] = service.settings.encryptionKeys;
    const fresh = Buffer.alloc(32, 'n');
    const keysUnder = (...encryptionKeys: Buffer[]) =>
      new ReceiptKeysService(repository, { encryptionKeys } as Settings);
    const before = await keysUnder(old!).signing();
    await service.database.query("UPDATE receipt_keys SET created_at = created_at - interval '366 days'");
    const after = await keysUnder(old!).signing();
    expect(after.id).not.toBe(before.id);
    const { keys } = await keysUnder(old!).published();
    expect(keys.slice(0, 2).map(({ kid }) => kid)).toEqual([after.id, before.id]);
    expect(await keysUnder(fresh, old!).reseal()).toEqual({ resealed: keys.length, unreadable: [] });
    expect(await keysUnder(fresh, old!).reseal()).toEqual({ resealed: 0, unreadable: [] });
    expect((await keysUnder(fresh).signing()).id).toBe(after.id);
    await keysUnder(old!, fresh).reseal();
  });

  it('are signed with one key by all who sign first at once', async () => {
    await authorize();
    const [version] = await versions();
    await Promise.all([1, 2, 3].map(() => receiptOf(browser, version!.id)));
    const signing = await service.database.query('SELECT 1 FROM receipt_keys WHERE retired_at IS NULL');
    expect(signing).toHaveLength(1);
  });

  it('that say who ended what an operator had recorded', async () => {
    const actor = { type: 'user', id: (await service.make.user({ role: 'operator' })).id } as const;
    await service.app
      .get(ConsentApprovals)
      .record(client.id, user.id, ['vehicle:read'], 'Contract 17, page 2', actor);
    await service.app.get(ConsentsService).revoke(client.id, user.id, actor);
    const receipt = await browser.open(`/account/receipts/${(await versions()).at(-1)!.id}`);
    expect(receipt.text).toContain('Our staff ended it.');
    expect(receipt.text).not.toContain('Our staff recorded it for you.');
  });
});
