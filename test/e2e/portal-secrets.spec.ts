import { EndpointsService } from '#events/webhooks/endpoints/endpoints.service.js';
import { madeForEach, madeOnce, type Page, useSharedService } from '../support/spec.js';
import { actionsOn } from '../support/audit-events.js';
import { enterPortal, makeEndpoint, wordsOf } from '../support/portal.js';

describe('The secret of an endpoint in the portal', () => {
  const service = useSharedService({ env: { WEBHOOK_ALLOW_PRIVATE_ADDRESSES: 'true' } });
  let path: string;

  const client = madeOnce(() => service.make.client());
  const browser = madeOnce(() => enterPortal(service, client));
  const endpoint = madeForEach(() => makeEndpoint(service, client));
  beforeEach(async () => (path = `/portal/endpoints/${endpoint.id}`));

  const shown = (page: Page): string => page.html.querySelector('#signing-secret')!.getAttribute('value')!;
  const reveal = async (): Promise<Page> => browser.submit(await browser.open(path), `${path}/secret`);
  const actions = () => actionsOn(service, endpoint.id, 'webhook_endpoint.secret_');

  it('is answered with a 409 page if no configured key unseals it', async () => {
    await service.database.query(`UPDATE webhook_endpoints SET sealed_secret = '\\x00' WHERE id = $1`, [
      endpoint.id,
    ]);
    const page = await reveal();
    expect(page.status).toBe(409);
    expect(wordsOf(page)).toContain('Rotate it to get a new one');
    expect(await actions()).toEqual([]);
  });

  it('is shown only on request, in a single answer that is never cached', async () => {
    expect(shown(await browser.open(path))).toMatch(/^whsec_•+$/);
    const page = await reveal();
    expect([page.status, page.headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(shown(page)).toBe(endpoint.secret);
    expect(page.html.querySelector('#signing-secret')!.hasAttribute('readonly')).toBe(true);
    expect(await actions()).toEqual(['webhook_endpoint.secret_revealed']);
    for (const each of ['', '/edit', '/rotate', '/test'])
      expect((await browser.open(path + each)).text).not.toContain(endpoint.secret.slice(6));
    const again = await browser.open(`${path}/secret`);
    expect([again.status, again.headers.get('location')]).toEqual([303, path]);
    expect(service.log.join('')).not.toContain(endpoint.secret.slice(6));
  });

  it('is rotated after a confirmation that says how long the old one stays valid', async () => {
    const confirmation = await browser.open(`${path}/rotate`);
    expect(wordsOf(confirmation)).toMatch(
      /stays valid for 24 more hours, until \d+ \w+ 20\d\d at \d\d:\d\d UTC/,
    );
    expect((await service.app.get(EndpointsService).liveSecrets(endpoint.id, client.id)).length).toBe(1);
    expect((await browser.submit(confirmation, `${path}/rotate`)).headers.get('location')).toBe(path);
    const live = await service.app.get(EndpointsService).liveSecrets(endpoint.id, client.id);
    expect(live).toEqual([expect.not.stringContaining(endpoint.secret), endpoint.secret]);
    const page = await browser.open(path);
    expect(wordsOf(page)).toContain('Secret rotated');
    expect(wordsOf(page)).toContain('The old one is also valid until');
    expect(page.text).not.toContain(live[0]!.slice(6));
    expect(shown(await reveal())).toBe(live[0]);
    expect(wordsOf(await browser.open(`${path}/rotate`))).toContain(
      'the previous one stops working immediately',
    );
    expect(await actions()).toEqual(['webhook_endpoint.secret_rotated', 'webhook_endpoint.secret_revealed']);
    await service.database.query(
      `UPDATE webhook_endpoints SET previous_secret_expires_at = now() - interval '1 minute' WHERE id = $1`,
      [endpoint.id],
    );
    expect(wordsOf(await browser.open(path))).not.toContain('The old one is also valid');
  });
});
