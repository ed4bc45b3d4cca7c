import { parse } from 'node-html-parser';
import { Webhook } from 'standardwebhooks';
import { makeEndpoint, type Page, seedDelivery, until, wordsOf } from '../support/spec.js';
import { setUpPortal } from '../support/portal-set-up.js';

describe('The page of a delivery in the portal', () => {
  const { service, receiver, client, browser } = setUpPortal();

  const newEndpoint = () => makeEndpoint(service, client, { url: receiver.url() });
  const region = (page: Page, name: string): string =>
    // The parser keeps the contents of `pre` unchanged.
    parse(page.html.querySelector(`[aria-label="${name}"]`)!.innerHTML, { blockTextElements: {} })
      .textContent;
  const linkOn = (page: Page, words: string): string =>
    page.html
      .querySelectorAll('main a')
      .find(({ text }) => text === words)!
      .getAttribute('href')!
      .replaceAll('&amp;', '&');
  const tested = async (endpoint: { id: string }): Promise<Page> => {
    const path = `/portal/endpoints/${endpoint.id}/test`;
    const location = (await browser.fillIn(path, { type: 'vehicle.updated' })).headers.get('location')!;
    await until('it arrived', async () => wordsOf(await browser.open(location)).includes('Status 200'));
    return browser.open(location);
  };

  it('shows the exact bytes and headers, which verify when copied', async () => {
    const endpoint = await newEndpoint();
    const page = await tested(endpoint);
    const body = region(page, 'Payload');
    expect(body).toBe(receiver.requests[0]!.body);
    expect(page.html.querySelector('[aria-label="Payload"]')!.hasAttribute('data-copy')).toBe(true);
    const headers = Object.fromEntries(
      region(page, 'Request headers')
        .split('\n')
        .map((line) => line.split(': ') as [string, string]),
    );
    new Webhook(endpoint.secret).verify(body, headers);
    // The formatted payload has other bytes, and is not offered for copying.
    expect(region(page, 'Formatted payload')).toBe(JSON.stringify(JSON.parse(body), null, 2));
    expect(page.html.querySelector('[aria-label="Formatted payload"]')!.hasAttribute('data-copy')).toBe(
      false,
    );
  });

  it('links to the checker with every field filled in, and the checker finds a match', async () => {
    const page = await tested(await newEndpoint());
    const form = await browser.open(linkOn(page, 'Check this signature'));
    expect(form.html.querySelector('textarea#body')!.textContent.trim()).toBe(receiver.requests[0]!.body);
    const checked = await browser.submit(form, '/portal/verify#checker');
    expect(checked.html.querySelector('.outcome')!.text).toContain('They match');
  });

  it("links to no checker for another client's or an unknown delivery", async () => {
    const other = await service.make.client();
    const id = await seedDelivery(service, await makeEndpoint(service, other), {
      state: 'delivered',
      attempts: [{ status: 200 }],
    });
    for (const each of [id, 'dlvrx', `dlvr${'0'.repeat(26)}`, '%00', '']) {
      const status = (await browser.open(`/portal/verify?delivery=${each}`)).status;
      expect([each, status]).toEqual([each, each === '%00' ? 400 : 404]);
    }
    const twice = await browser.open(`/portal/verify?delivery=${id}&delivery=${id}`);
    expect([twice.status, twice.text.includes(id)]).toEqual([200, false]);
  });

  it('does not offer to check a delivery to a deleted endpoint', async () => {
    const endpoint = await newEndpoint();
    await tested(endpoint);
    await service.database.query('UPDATE webhook_endpoints SET deleted_at = now() WHERE id = $1', [
      endpoint.id,
    ]);
    const [row] = await service.database.query<{ id: string }>(
      'SELECT id FROM deliveries WHERE endpoint_id = $1',
      [endpoint.id],
    );
    expect((await browser.open(`/portal/deliveries/${row!.id}`)).text).not.toContain('Check this signature');
  });

  it('links back to the same place in the filtered list, even after a resend', async () => {
    const endpoint = await newEndpoint();
    const seed = () =>
      seedDelivery(service, endpoint, { state: 'failed', type: 'webhook.test', isTest: true });
    for (let n = 0; n < 27; n++) await seed();
    const first = await browser.open(
      `/portal/deliveries?state=failed&type=webhook.test&endpoint=${endpoint.id}`,
    );
    const second = linkOn(first, 'Older →');
    const list = await browser.open(second);
    const row = list.html.querySelector('tbody th a')!.getAttribute('href')!.replaceAll('&amp;', '&');
    const page = await browser.open(row);
    const sameQuery = (path: string) => [...new URLSearchParams(path.split('?')[1])].sort();
    expect(sameQuery(linkOn(page, 'Deliveries'))).toEqual(sameQuery(second));
    const action = page.html.querySelector('form[action*="/resend"]')!.getAttribute('action')!;
    const answer = await browser.submit(page, action);
    expect(answer.status).toBe(303);
    const after = await browser.open(answer.headers.get('location')!);
    expect(sameQuery(linkOn(after, 'Deliveries'))).toEqual(sameQuery(second));
    expect(wordsOf(after)).toContain('Resend requested. The result appears below.');
  });

  it('does not say that the delivery is being sent again once it has arrived', async () => {
    const id = await seedDelivery(service, await newEndpoint(), { state: 'failed', isTest: true });
    const page = await browser.open(`/portal/deliveries/${id}`);
    const action = page.html.querySelector('form[action*="/resend"]')!.getAttribute('action')!;
    const location = (await browser.submit(page, action)).headers.get('location')!;
    await until('it arrived', async () => wordsOf(await browser.open(location)).includes('Status 200'));
    expect(wordsOf(await browser.open(location))).not.toMatch(/sent again|sending/i);
  });

  it('links back only to the list', async () => {
    const id = await seedDelivery(service, await newEndpoint(), { state: 'failed' });
    const page = await browser.open(
      `/portal/deliveries/${id}?state=%22%3E%3Cb%3E&next=https%3A%2F%2Fevil.example&page_after=x`,
    );
    expect(linkOn(page, 'Deliveries')).toBe('/portal/deliveries?state=%22%3E%3Cb%3E&page_after=x');
    expect(linkOn(await browser.open(`/portal/deliveries/${id}`), 'Deliveries')).toBe('/portal/deliveries');
    expect((await browser.open(`/portal/deliveries/${id}?state=%zz`)).status).toBe(400);
  });
});
