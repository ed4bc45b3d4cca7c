import { execFileSync } from 'node:child_process';
import { parse, type HTMLElement } from 'node-html-parser';
import { SERVICE_ACTOR } from '#records/audit/audit.service.js';
import { ConsentsService } from '#access/consents/consents.service.js';
import { EndpointsService } from '#events/webhooks/endpoints/endpoints.service.js';
import { type Page, postedAnew, until } from '../support/spec.js';
import { enterPortal, makeEndpoint, seedDelivery, wordsOf, type SeededDelivery } from '../support/portal.js';
import { setUpPortal } from '../support/portal-set-up.js';
import { Receiver } from '../support/receiver.js';

const LIST = '/portal/deliveries';
const TEST: SeededDelivery = { state: 'failed', type: 'webhook.test', isTest: true };
// The parser keeps the contents of `pre` unchanged.
const code = (pre: HTMLElement): string => parse(pre.innerHTML, { blockTextElements: {} }).textContent;
const region = (page: Page, label: string): string =>
  code(page.html.querySelector(`[aria-label="${label}"]`)!);

/* Contract §22: resending many, the page of a delivery, and the list that is live. */
describe('In the portal,', () => {
  const { service, receiver: partner, client, browser } = setUpPortal();
  const newEndpoint = () => makeEndpoint(service, client, { url: partner.url() });
  const seed = async (
    input: Partial<SeededDelivery> = {},
    endpoint?: Awaited<ReturnType<typeof newEndpoint>>,
  ) => seedDelivery(service, endpoint ?? (await newEndpoint()), { ...TEST, ...input });
  const change = ({ id }: { id: string }, changes: Parameters<EndpointsService['update']>[2]) =>
    service.app.get(EndpointsService).update(id, client.id, changes, SERVICE_ACTOR);
  const keysOn = ({ html }: Page) =>
    html.querySelectorAll('[data-key]').map((row) => row.getAttribute('data-key'));
  const isOver = (path: string): Promise<void> =>
    until('it is over', async () => !wordsOf(await browser.open(path)).includes('refreshes'));
  const select = async (ids: string[], list = LIST): Promise<Page> =>
    browser.submit(await browser.open(list), `${LIST}/selected`, { delivery: ids });
  const matching = async (search: string): Promise<Page> => browser.open(`${LIST}/matching?${search}`);
  const progress = async (answer: Page): Promise<string> => {
    expect(answer.status).toBe(303);
    const path = answer.headers.get('location')!;
    await isOver(path);
    return wordsOf(await browser.open(path));
  };
  const sentIds = () => partner.requests.map(({ headers }) => headers['webhook-id']).sort();

  describe('many deliveries are resent', () => {
    it('if they are selected; what cannot be resent is left out', async () => {
      const endpoint = await newEndpoint();
      const [failed, delivered, cancelled, other] = [
        await seed({}, endpoint),
        await seed({ state: 'delivered', attempts: [{ status: 200 }] }, endpoint),
        await seed({ state: 'cancelled', cancelReason: 'endpoint_disabled' }, endpoint),
        await seed({}, endpoint),
      ];
      const leased = await seed({ state: 'pending' }, endpoint);
      const erased = await seed({}, endpoint);
      const foreign = await makeEndpoint(service, await service.make.client());
      const ofOthers = await seedDelivery(service, foreign, TEST);
      await service.database.query(
        "UPDATE deliveries SET lease_id = CASE WHEN id = $1 THEN 'held' END, erased = id = $2 WHERE id IN ($1, $2)",
        [leased, erased],
      );
      const words = await progress(
        await select([failed, delivered, cancelled, leased, erased, ofOthers, failed]),
      );
      expect(words).toContain('3 deliveries that were selected');
      expect(sentIds()).toEqual([failed, delivered, cancelled].sort());
      expect(wordsOf(await browser.open(`${LIST}/${other}`))).toContain('Failed');
    });

    it('but not none, more than 100, or what is no delivery', async () => {
      const id = await seed();
      const ids = (count: number) => Array.from({ length: count }, () => id);
      for (const chosen of [[], ids(101), ['x'], [id, 'dlvr1']])
        expect([chosen.length, (await select(chosen)).status]).toEqual([chosen.length, 400]);
      expect(await progress(await select(ids(100)))).toContain('1 delivery that was selected');
      expect((await browser.open(`${LIST}/selected`)).status).toBe(404);
    });

    it('if they match the filter, as many as were counted, and none that come later', async () => {
      const [endpoint, elsewhere] = [await newEndpoint(), await newEndpoint()];
      const at = (hour: number) => new Date(Date.UTC(2026, 2, 1, hour));
      const within = [
        await seed({ at: at(10) }, endpoint),
        await seed({ at: at(11), state: 'delivered', attempts: [{ status: 200 }] }, endpoint),
      ];
      await seed({ at: at(9) }, endpoint);
      await seed({ at: at(10) }, elsewhere);
      const search = `endpoint=${endpoint.id}&from=2026-03-01T10:00&to=2026-03-01T12:00`;
      const list = await browser.open(`${LIST}?${search}`);
      const link = list.html.querySelectorAll('a').find(({ text }) => text === 'Resend all that match')!;
      const page = await browser.open(link.getAttribute('href')!);
      expect(wordsOf(page)).toContain('2 deliveries that match the filter can be resent');
      expect(await progress(await browser.submit(page, `${LIST}/matching`))).toContain(
        '2 deliveries that matched the filter',
      );
      expect(sentIds()).toEqual([...within].sort());

      const all = await matching(`endpoint=${endpoint.id}`);
      expect(wordsOf(all)).toContain('3 deliveries that match');
      await seed({ at: new Date(Date.now() + 5000) }, endpoint);
      expect(await progress(await browser.submit(all, `${LIST}/matching`))).toContain('3 deliveries');
    });

    it('but not if nothing matches that can be resent, nor with a wrong filter', async () => {
      const endpoint = await newEndpoint();
      await seed({ isTest: false }, endpoint);
      await change(endpoint, { enabled: false });
      const none = await matching('');
      expect(wordsOf(none)).toContain('Nothing in this list can be resent');
      expect(none.html.querySelector(`form[action="${LIST}/matching"]`)).toBeNull();
      expect((await matching('from=yesterday')).status).toBe(400);
      await seed({ isTest: true }, endpoint);
      const page = await matching('');
      for (const fields of [{ until: 'x' }, { from: 'yesterday' }])
        expect((await browser.submit(page, `${LIST}/matching`, fields)).status).toBe(400);
      expect(sentIds()).toEqual([]);
    });

    it('but not at an endpoint that is not the client’s, nor until a time to come or of long ago', async () => {
      const endpoint = await newEndpoint();
      await seed({}, endpoint);
      const page = await matching(`endpoint=${endpoint.id}`);
      expect(wordsOf(page)).toContain('1 delivery that matches the filter can be resent');
      const foreign = await makeEndpoint(service, await service.make.client());
      for (const id of [foreign.id, `endp${'0'.repeat(26)}`])
        expect((await browser.submit(page, `${LIST}/matching`, { endpoint: id })).status).toBe(404);
      for (const until of ['+020000-01-01T00:00:00Z', '2999-01-01T00:00:00Z', '-010000-01-01T00:00:00Z'])
        expect((await browser.submit(page, `${LIST}/matching`, { until })).status).toBe(400);
      const audited = await service.database.query(
        "SELECT 1 FROM audit_events WHERE action = 'delivery.recovered' AND subject_id = ANY ($1)",
        [[foreign.id, endpoint.id, client.id]],
      );
      expect([audited, sentIds()]).toEqual([[], []]);
    });

    it('at most six times a minute', async () => {
      const id = await seed();
      const page = await browser.open(LIST);
      const answers = [];
      for (let n = 0; n < 7; n++) {
        const answer = await browser.submit(page, `${LIST}/selected`, { delivery: id, ...postedAnew() });
        answers.push(answer.status);
      }
      expect(answers).toEqual([303, 303, 303, 303, 303, 303, 429]);
      await isOver(`${LIST}/${id}`);
    });
  });

  describe('the page of a delivery', () => {
    const test = async (url: string, headers: Record<string, string> = {}) => {
      const endpoint = await makeEndpoint(service, client, { url });
      await change(endpoint, { headers });
      const answer = await browser.fillIn(`/portal/endpoints/${endpoint.id}/test`);
      return { endpoint, path: answer.headers.get('location')! };
    };

    it('shows the bytes of each attempt as they were sent, and a command that sends the same', async () => {
      const heads: string[] = [];
      const bytes = await Receiver.startRaw((socket, _times, chunk) => {
        heads.push(chunk.toString('utf8'));
        if (heads.join('').endsWith('}'))
          socket.end('HTTP/1.1 500 No\r\nconnection: close\r\ncontent-length: 0\r\n\r\n');
      });
      const { path, endpoint } = await test(bytes.url("/hook?a='b'&c=[1]"), { authorization: 'Bearer one' });
      await change(endpoint, { url: partner.url('/other') });
      const page = await browser.open(path);
      const payload = region(page, 'Payload');
      const shown = region(page, 'Request of attempt 1').replace('••••••••', 'Bearer one');
      expect(heads.join('')).toBe(`${shown.replaceAll('\n', '\r\n')}\r\n\r\n${payload}`);

      // As a shell reads it.
      const command = code(page.html.querySelectorAll('[data-copy="Copy as curl"]').at(-1)!);
      const script = `curl() { for word in "$@"; do printf '%s\\0' "$word"; done; }\n${command}`;
      const words = execFileSync('sh', ['-c', script]).toString('utf8').split('\0');
      const lines = shown
        .split('\n')
        .filter((line) => /^(content-type|user-agent|webhook-|authorization)/.test(line));
      expect(words).toEqual([
        '--globoff',
        '-X',
        'POST',
        bytes.url("/hook?a='b'&c=[1]").replaceAll("'", '%27'),
        ...lines.flatMap((line) => ['-H', line.replace('Bearer one', '••••••••')]),
        '--data-binary',
        payload,
        '',
      ]);
      await bytes.stop();
    });

    it('shows the headers of the response: up to 32, up to 8 kB, without cookies', async () => {
      const many = Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`x-${n}`, `value ${n}`]));
      const replies: Record<string, string[] | string>[] = [
        { 'set-cookie': ['session=a-secret'], 'x-first': '<b>', ...many },
        { 'x-first': 'a', 'x-long': 'y'.repeat(8000), 'x-longer': 'z'.repeat(4000), 'x-last': 'b' },
      ];
      const receiver = await Receiver.start(
        (response) => void response.writeHead(200, replies.shift()).end('ok'),
      );
      const shownHeaders = async () => {
        const { path } = await test(receiver.url());
        const page = await browser.open(path);
        expect(page.text).not.toContain('a-secret');
        return region(page, 'Headers of the response to attempt 1').split('\n');
      };
      const first = await shownHeaders();
      expect([first.length, first[0], first[1]]).toEqual([32, 'x-first: <b>', 'x-0: value 0']);
      expect((await shownHeaders()).map((line) => line.slice(0, 10))).toEqual(['x-first: a', 'x-long: yy']);
      await receiver.stop();
    });

    it('leads to the checker, filled in with the attempt', async () => {
      const { path } = await test(partner.url());
      await browser.submit(await browser.open(path), `${path}/resend`);
      await until('it was sent twice', async () => wordsOf(await browser.open(path)).includes('#2'));
      const page = await browser.open(path);
      const links = page.html.querySelectorAll('a').filter(({ text }) => text.startsWith('Check signature'));
      expect(links.map(({ text }) => text)).toEqual([2, 1].map((n) => `Check signature of attempt ${n}`));
      for (const [n, link] of links.entries()) {
        const form = await browser.open(link.getAttribute('href')!);
        const { headers } = partner.requests[1 - n]!;
        for (const name of ['webhook-timestamp', 'webhook-signature'])
          expect(form.html.querySelector(`[name="${name}"]`)!.getAttribute('value')).toBe(headers[name]);
        const checked = await browser.submit(form, '/portal/verify#checker');
        expect(checked.html.querySelector('.outcome')!.text).toContain('They match');
      }
    });

    it('hides the signature, the command and the checker with the payload', async () => {
      const user = await service.make.user();
      await service.make.consent(client, user);
      const id = await seed({
        isTest: false,
        type: 'vehicle.updated',
        userId: user.id,
        attempts: [{ status: 500, signature: 'v1,the-signature' }],
      });
      const page = await browser.open(`${LIST}/${id}`);
      for (const words of ['v1,the-signature', 'Copy as curl', 'Check signature'])
        expect(page.text).toContain(words);
      await service.app.get(ConsentsService).revoke(client.id, user.id, SERVICE_ACTOR);
      const hidden = await browser.open(`${LIST}/${id}`);
      for (const words of ['v1,the-signature', 'Copy as curl', 'Check signature', 'content-length', '"é"'])
        expect([words, hidden.text.includes(words)]).toEqual([words, false]);
      const form = await browser.open(`/portal/verify?delivery=${id}&attempt=1`);
      expect(form.text).not.toContain('the-signature');
    });
  });

  it('the script gets the list alone, by the same filter', async () => {
    const endpoint = await newEndpoint();
    const [failed] = [await seed({}, endpoint), await seed({ state: 'delivered' }, endpoint)];
    const page = await browser.open(`${LIST}?state=failed`);
    const part = page.html.querySelector('[data-live-list]')!.getAttribute('data-live-list')!;
    const list = await browser.open(part);
    expect(keysOn(list)).toEqual([failed]);
    expect([page, list].map(({ html }) => html.querySelectorAll('form.filters').length)).toEqual([1, 0]);
    const other = await enterPortal(service, await service.make.client());
    expect(keysOn(await other.open(part))).toEqual([]);
  });

  it('the bars of a chart, and the table beside it, lead to the list of their time and state', async () => {
    const endpoint = await newEndpoint();
    // Another hour may begin in the meantime: all is in this one, but for the delivery of the day before.
    const at = new Date(Math.floor(Date.now() / 3_600_000) * 3_600_000);
    await service.database.query(
      `INSERT INTO webhook_endpoint_hours (endpoint_id, hour, delivered, failed, duration_ms, slowest_ms)
       VALUES ($1, $2, 3, 1, 400, 250)`,
      [endpoint.id, at],
    );
    const failed = await seed({ at }, endpoint);
    await seed({ state: 'delivered', at }, endpoint);
    await seed({ at: new Date(at.getTime() - 86_400_000) }, endpoint);
    for (const range of ['24h', '7d']) {
      const page = await browser.open(`/portal/endpoints/${endpoint.id}?range=${range}`);
      const [bar] = page.html
        .querySelectorAll('svg a')
        .filter((link) => link.getAttribute('aria-label')!.includes('failed'));
      expect(bar!.getAttribute('aria-label')).toMatch(/: 1 failed\. Show these deliveries$/);
      const href = bar!.getAttribute('href')!;
      expect(page.html.querySelectorAll('details td a').map((link) => link.getAttribute('href'))).toContain(
        href,
      );
      expect(keysOn(await browser.open(href.replaceAll('&amp;', '&')))).toEqual([failed]);
      expect(page.html.querySelectorAll('svg.plot').at(-1)!.text).toContain('250 ms slowest, 100 ms average');
    }
  });
});
