import { Webhook } from 'standardwebhooks';
import type { EndpointEntity } from '#events/webhooks/endpoints/endpoint.entity.js';
import { EndpointsService } from '#events/webhooks/endpoints/endpoints.service.js';
import { TestEventsService } from '#events/webhooks/events/test-events.service.js';
import { SERVICE_ACTOR } from '#records/audit/audit.service.js';
import { madeOnce, type Page, until, useSharedService, WEBHOOK_ENV } from '../support/spec.js';
import { auditEventsOn } from '../support/audit-events.js';
import { whileHeld } from '../support/held-rows.js';
import { enterPortal, errorAt, makeEndpoint, seedDelivery, wordsOf } from '../support/portal.js';
import { holdWaitForTest } from '../support/portal-set-up.js';
import { Receiver } from '../support/receiver.js';

const FAILED = { state: 'failed', type: 'webhook.test', isTest: true } as const;

describe('In the portal,', () => {
  const wait = holdWaitForTest();
  const service = useSharedService({ env: WEBHOOK_ENV });
  const receiver = Receiver.setUp((response) => {
    const answer = () => void response.writeHead(status).end(`answered <${status}>`);
    if (held) held.push(answer);
    else answer();
  });
  let status: number;
  let held: (() => void)[] | undefined;

  const client = madeOnce(() => service.make.client());
  const browser = madeOnce(() => enterPortal(service, client));
  beforeEach(() => {
    status = 200;
    held = undefined;
    receiver.requests.length = 0;
  });

  const newEndpoint = (): Promise<EndpointEntity & { secret: string }> =>
    makeEndpoint(service, client, { url: receiver.url() });
  const testPath = ({ id }: EndpointEntity): string => `/portal/endpoints/${id}/test`;
  const recoverPath = ({ id }: EndpointEntity): string => `/portal/endpoints/${id}/recover`;
  const sendTest = async (endpoint: EndpointEntity, type?: string): Promise<Page> =>
    browser.fillIn(testPath(endpoint), { type });
  const locationOf = (page: Page): string => page.headers.get('location')!;
  const turn = (endpoint: EndpointEntity, enabled: boolean): Promise<unknown> =>
    service.app.get(EndpointsService).update(endpoint.id, client.id, { enabled }, SERVICE_ACTOR);

  describe('a test', () => {
    it.each([undefined, '', 'nothing.happened', '<b>', 'x'.repeat(300)])(
      'of the event type %j is refused next to the field, and nothing is sent',
      async (type) => {
        const page = await sendTest(await newEndpoint(), type);
        expect([page.status, errorAt(page, 'event-type')?.slice(0, 26)]).toEqual([
          400,
          'Choose one of these event ',
        ]);
        expect(receiver.requests).toEqual([]);
      },
    );

    it('of a type outside the scopes of the client is refused, and not offered', async () => {
      const narrow = await service.make.client({ scopes: ['vehicle:read'] });
      const inside = await enterPortal(service, narrow);
      const path = testPath(await makeEndpoint(service, narrow, { url: receiver.url() }));
      const form = await inside.open(path);
      expect(form.text).not.toContain('charging_session.created');
      expect((await inside.submit(form, path, { type: 'charging_session.created' })).status).toBe(400);
      expect(receiver.requests).toEqual([]);
    });

    it('of an endpoint whose client is deleted at that moment is refused, and no internal error', async () => {
      const leaving = await service.make.client();
      const endpoint = await makeEndpoint(service, leaving, { url: receiver.url() });
      const send = () =>
        service.app
          .get(TestEventsService)
          .send(endpoint, 'webhook.test', leaving.scopes)
          .catch((error: unknown) => error);
      const deletion = 'DELETE FROM clients WHERE id = $1';
      const [met] = await whileHeld(service, [deletion, [leaving.id]], [send], 'COMMIT');
      for (const answer of [met, await send()]) expect(answer).toMatchObject({ status: 404 });
      expect(receiver.requests).toEqual([]);
    });

    it('first shows the sample of each type, then is sent signed, and shows the answer', async () => {
      const endpoint = await newEndpoint();
      const form = await browser.open(`${testPath(endpoint)}?type=charging_session.ended`);
      const options = form.html.querySelectorAll('#event-type option');
      const selected = options.filter((option) => option.hasAttribute('selected'));
      expect(selected.map(({ text }) => text)).toEqual(['charging_session.ended']);
      expect(form.html.querySelectorAll('main details summary').map(({ text }) => text)).toEqual(
        options.map(({ text }) => text),
      );
      expect(wordsOf(form)).toContain('38.7');
      const answer = await browser.submit(form, testPath(endpoint), { type: 'charging_session.ended' });
      expect(answer.status).toBe(303);
      const page = await browser.open(locationOf(answer));
      for (const words of ['Test: charging_session.ended', 'Delivered', 'Status 200', 'answered <200>'])
        expect(wordsOf(page)).toContain(words);
      expect(page.text).not.toContain('http-equiv="refresh"');
      const { body, headers } = receiver.requests[0]!;
      const verified = new Webhook(endpoint.secret).verify(body, headers as Record<string, string>);
      expect(verified).toMatchObject({
        id: expect.stringMatching(/^evnt[0-7]/),
        type: 'charging_session.ended',
        user_id: expect.stringMatching(/^user0+$/),
      });
      expect(wordsOf(page)).toContain((verified as { id: string }).id);
      expect(wordsOf(page)).toContain(`webhook-signature: ${headers['webhook-signature'] as string}`);
    });

    it('that fails shows the reason and advice, and is not retried', async () => {
      status = 404;
      const page = await browser.open(locationOf(await sendTest(await newEndpoint(), 'webhook.test')));
      for (const words of ['Failed', 'Status 404', 'Check the path of the URL', 'answered <404>'])
        expect(wordsOf(page)).toContain(words);
      expect(wordsOf(page)).not.toContain('Next attempt');
    });

    it('whose receiver hangs is shown on a page that refreshes itself', async () => {
      held = [];
      const sending = sendTest(await newEndpoint(), 'webhook.test');
      await until('it waits for the answer', () => held!.length === 1 && wait.count === 1);
      wait.letPass();
      const page = await browser.open(locationOf(await sending));
      expect(page.text).toContain('http-equiv="refresh"');
      expect(wordsOf(page)).toContain('Waiting for the response');
      held.forEach((answer) => answer());
      const path = `/portal/deliveries/${wordsOf(page).match(/dlvr[0-9A-Z]{26}/)![0]}`;
      await until('the answer stands there', async () =>
        wordsOf(await browser.open(path)).includes('Status 200'),
      );
    });

    it('can be sent to a disabled endpoint', async () => {
      const endpoint = await newEndpoint();
      await turn(endpoint, false);
      const page = await browser.open(locationOf(await sendTest(endpoint, 'webhook.test')));
      expect(wordsOf(page)).toContain('Status 200');
    });
  });

  it('a resent delivery keeps its id and is recorded as an audit event', async () => {
    const id = await seedDelivery(service, await newEndpoint(), { ...FAILED, attempts: [{ status: 500 }] });
    const path = `/portal/deliveries/${id}`;
    const answer = await browser.submit(await browser.open(path), `${path}/resend`);
    expect([answer.status, locationOf(answer)]).toEqual([303, path]);
    await until('it arrived', async () => wordsOf(await browser.open(path)).includes('Delivered'));
    expect(receiver.requests.map(({ headers }) => headers['webhook-id'])).toEqual([id]);
    expect(wordsOf(await browser.open(path))).toContain('#2');
    expect(await auditEventsOn(service, id, 'delivery.resent')).toMatchObject([
      { actor_type: 'client', actor_id: client.id, address: '127.0.0.1' },
    ]);
  });

  describe('a recovery', () => {
    it.each([
      [500, 'Finished: 0 of 3 deliveries succeeded', 'failed'],
      [200, 'All done', 'delivered'],
    ])('whose deliveries are all answered with %i says “%s”', async (answer, words, tone) => {
      status = answer;
      const endpoint = await newEndpoint();
      for (let n = 0; n < 3; n++) await seedDelivery(service, endpoint, FAILED);
      const location = locationOf(await browser.fillIn(recoverPath(endpoint)));
      await until(
        'it is over',
        async () => !wordsOf(await browser.open(location)).includes('of 3 deliveries done'),
      );
      const page = await browser.open(location);
      expect(wordsOf(page)).toContain(words);
      expect(page.html.querySelector('.outcome')!.classList.contains(`outcome-${tone}`)).toBe(true);
      expect(page.html.querySelectorAll('label').map(({ text }) => text)).toEqual([words]);
    });

    it('does not count as failed what a later one has resent', async () => {
      status = 500;
      const endpoint = await newEndpoint();
      for (let n = 0; n < 2; n++) await seedDelivery(service, endpoint, FAILED);
      const path = recoverPath(endpoint);
      const over = (location: string) =>
        until('it is over', async () => !wordsOf(await browser.open(location)).includes('deliveries done'));
      const first = locationOf(await browser.fillIn(path));
      await over(first);
      status = 200;
      const second = locationOf(await browser.fillIn(path));
      await until('all arrived', async () => wordsOf(await browser.open(second)).includes('All done'));
      const page = await browser.open(first);
      expect(wordsOf(page)).toContain('2 deliveries are not counted here any more: resent again');
      expect(wordsOf(page)).not.toContain('Finished: 0 of 2');
      expect(page.html.querySelector('.outcome')!.classList.contains('outcome-delivered')).toBe(true);
    });

    const recoveries = async (): Promise<number> =>
      (await service.database.query('SELECT 1 FROM webhook_recoveries WHERE client_id = $1', [client.id]))
        .length;

    it.each([
      ['x', '2026-03-01T00:00', 'from', 'Enter a date and a time'],
      ['2026-03-01T00:00', '2026-02-29T00:00', 'to', 'Enter a date and a time'],
      ['2026-03-01T00:00', '', 'to', 'Enter a date and a time'],
      ['', '2026-03-01T00:00', 'from', 'Enter a date and a time'],
      ['2026-03-01T00:01', '2026-03-01T00:00:59', 'to', 'This must be later than “From”.'],
    ])('from %j until %j is refused next to the field', async (from, to, field, error) => {
      const endpoint = await newEndpoint();
      const path = recoverPath(endpoint);
      const before = await recoveries();
      const page = await browser.open(`${path}?${new URLSearchParams({ from, to }).toString()}`);
      expect([page.status, errorAt(page, field)?.slice(0, error.length)]).toEqual([400, error]);
      expect(page.html.querySelector(`#${field}`)!.getAttribute('value')).toBe(field === 'from' ? from : to);
      await seedDelivery(service, endpoint, { state: 'failed' });
      const posted = await browser.fillIn(path, { from: from || ' ', to: to || ' ' });
      expect(posted.status).toBe(400);
      expect(await recoveries()).toBe(before);
    });

    it('is not offered if nothing failed, nor for a disabled endpoint', async () => {
      const endpoint = await newEndpoint();
      const path = recoverPath(endpoint);
      expect(wordsOf(await browser.open(path))).toContain('Nothing failed');
      await seedDelivery(service, endpoint, { state: 'failed' });
      const form = await browser.open(path);
      await turn(endpoint, false);
      const page = await browser.open(path);
      expect(wordsOf(page)).toContain('The endpoint is disabled');
      expect(page.html.querySelector('form[method=post][action$="/recover"]')).toBeNull();
      const before = await recoveries();
      expect(wordsOf(await browser.submit(form, path))).toContain('The endpoint is disabled');
      expect(await recoveries()).toBe(before);
    });

    it('offers by default also what failed within a day after it was retried for the whole schedule', async () => {
      const endpoint = await newEndpoint();
      const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3600_000);
      const schedule = service.settings.webhookRetrySchedule.reduce((sum, wait) => sum + wait) / 3600;
      const late = await seedDelivery(service, endpoint, { ...FAILED, at: hoursAgo(schedule + 20) });
      await seedDelivery(service, endpoint, { ...FAILED, at: hoursAgo(1.1 * schedule + 25) });
      const path = recoverPath(endpoint);
      const page = await browser.open(path);
      expect(wordsOf(page)).toContain('1 delivery failed that was created from');
      const location = locationOf(await browser.submit(page, path));
      await until('it is over', async () => wordsOf(await browser.open(location)).includes('All done'));
      expect(receiver.requests.map(({ headers }) => headers['webhook-id'])).toEqual([late]);
    });

    it('first shows a count, then sends exactly the failed deliveries of the period, and shows its progress', async () => {
      const endpoint = await newEndpoint();
      const elsewhere = await newEndpoint();
      const at = (hour: number) => new Date(Date.UTC(2026, 2, 1, hour));
      const seed = (hour: number, of = endpoint, state: 'failed' | 'delivered' = 'failed') =>
        seedDelivery(service, of, { ...FAILED, state, at: at(hour) });
      const within = [await seed(10), await seed(11), await seed(12)];
      await seed(9);
      await seed(13);
      await seed(11, elsewhere);
      await seed(11, endpoint, 'delivered');
      const path = recoverPath(endpoint);
      const counted = await browser.open(`${path}?from=2026-03-01T10:00&to=2026-03-01T13:00`);
      expect(wordsOf(counted)).toContain('3 deliveries failed');
      expect(receiver.requests).toEqual([]);
      held = [];
      const answer = await browser.submit(counted, path);
      expect(answer.status).toBe(303);
      const progress = await browser.open(locationOf(answer));
      expect(wordsOf(progress)).toContain('0 of 3 deliveries done');
      expect(progress.html.querySelector('progress')!.getAttribute('max')).toBe('3');
      expect(progress.text).toContain('http-equiv="refresh"');
      await until('all are under way', () => held!.length === 3);
      held.forEach((release) => release());
      await until('all are done', async () =>
        wordsOf(await browser.open(locationOf(answer))).includes('All done'),
      );
      const done = await browser.open(locationOf(answer));
      expect(done.text).not.toContain('http-equiv="refresh"');
      expect(receiver.requests.map(({ headers }) => headers['webhook-id']).sort()).toEqual(
        [...within].sort(),
      );
      const list = done.html.querySelectorAll('a').find(({ text }) => text === 'View these deliveries')!;
      const rows = (await browser.open(list.getAttribute('href')!)).html.querySelectorAll('tbody tr');
      expect(rows).toHaveLength(3);
      expect(await auditEventsOn(service, endpoint.id, 'delivery.recovered')).toMatchObject([
        { actor_id: client.id, after: { deliveries: 3 } },
      ]);
    });
  });
});
