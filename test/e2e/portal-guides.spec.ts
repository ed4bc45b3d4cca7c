import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { Webhook } from 'standardwebhooks';
import { SERVICE_ACTOR } from '#records/audit/audit.service.js';
import { EndpointsService } from '#events/webhooks/endpoints/endpoints.service.js';
import { SNIPPETS } from '#entrypoints/webhook-portal/guides/snippets.js';
import { madeOnce, type Page, useSharedService } from '../support/spec.js';
import { enterPortal, errorAt, makeEndpoint, seedDelivery, wordsOf } from '../support/portal.js';
import { listOf } from '../support/list-of.js';

const VERIFY = '/portal/verify';
const BODY = '{"type":"vehicle.updated","data":{"name":"Zoë"}}';

describe('The guides of the portal', () => {
  const service = useSharedService({ env: { WEBHOOK_ALLOW_PRIVATE_ADDRESSES: 'true' } });

  const client = madeOnce(() => service.make.client());
  const browser = madeOnce(() => enterPortal(service, client));
  const endpoint = madeOnce(() => makeEndpoint(service, client));

  const now = (): Date => new Date(Math.floor(Date.now() / 1000) * 1000);
  const signed = (
    body = BODY,
    at = now(),
    id = 'dlvr1',
    secret = endpoint.secret,
  ): Record<string, string> => ({
    'webhook-id': id,
    'webhook-timestamp': String(at.getTime() / 1000),
    'webhook-signature': new Webhook(secret).sign(id, at, body),
  });
  const check = async (fields: Record<string, string | undefined>): Promise<Page> => {
    const form = await browser.open(VERIFY);
    const action = form.html.querySelector('form[action^="/portal/verify"]')!.getAttribute('action')!;
    const page = await browser.submit(form, action, { endpoint: endpoint.id, body: BODY, ...fields });
    expect(page.text).not.toContain(endpoint.secret.slice(6));
    return page;
  };
  const verdict = (page: Page): [boolean, string] => {
    const outcome = page.html.querySelector('.outcome')!.text.replace(/\s+/g, ' ');
    return [!outcome.startsWith('No match'), outcome.replace(/^(No match|Match)/, '')];
  };

  describe('with the signature checker', () => {
    it.each([undefined, 'endpx', "' OR 1=1", `endp${'0'.repeat(26)}`])(
      'accept only endpoints of the client, not %j',
      async (id) => {
        const page = await check({ endpoint: id, ...signed() });
        expect([page.status, errorAt(page, 'endpoint')]).toEqual([400, 'Choose one of your endpoints.']);
        expect(page.html.querySelector('.outcome')).toBeNull();
      },
    );

    it('accept no endpoint of another client, even if its secret would match', async () => {
      const foreign = await makeEndpoint(service, await service.make.client());
      const page = await check({ endpoint: foreign.id, ...signed(BODY, now(), 'dlvr1', foreign.secret) });
      expect([page.status, page.html.querySelector('.outcome')]).toEqual([400, null]);
    });

    it.each([
      [{ 'webhook-id': '' }, 'webhook-id is missing'],
      [{ 'webhook-timestamp': '' }, 'webhook-timestamp is missing'],
      [{ 'webhook-signature': '' }, 'webhook-signature is missing'],
      [{ 'webhook-timestamp': 'yesterday' }, 'is not a number of seconds'],
      [{ 'webhook-signature': 'v1,abc' }, 'contains no complete signature'],
      [{ 'webhook-signature': '<script>' }, 'contains no complete signature'],
      [{ 'webhook-id': 'dlvr2' }, 'Usual causes'],
      [{ body: '' }, 'Usual causes'],
      [{ body: BODY.replace('Zo', 'Jo') }, 'Usual causes'],
    ])('say that %j does not match, and why', async (fields, words) => {
      const page = await check({ ...signed(), ...fields });
      expect(page.status).toBe(200);
      const [matches, why] = verdict(page);
      expect([matches, why.includes(words)]).toEqual([false, true]);
      expect(page.text).not.toContain('<script>');
    });

    it('say that the JSON was re-serialised', async () => {
      const [matches, why] = verdict(
        await check({ ...signed(), body: JSON.stringify(JSON.parse(BODY), null, 2) }),
      );
      expect([matches, why.includes('parsed and serialized again')]).toEqual([false, true]);
    });

    it('say to which endpoint a delivery of this service went, or that the body differs', async () => {
      const other = await makeEndpoint(service, client);
      const id = await seedDelivery(service, other, { state: 'delivered', attempts: [{ status: 200 }] });
      const [, why] = verdict(await check({ ...signed(BODY, now(), id, other.secret) }));
      expect(why).toContain(`went to another endpoint: ${other.url}`);
      const headers = signed('something else', now(), id, other.secret);
      expect(verdict(await check({ ...headers, endpoint: other.id }))[1]).toContain(
        'is not the one that we sent',
      );
    });

    it.each([
      ['as it was sent', BODY],
      ['with the line endings of a form', '{\r\n}'],
      ['with an extra line ending', `${BODY}\r\n`],
    ])('match a body %s', async (_what, body) => {
      expect(verdict(await check({ ...signed(body === '{\r\n}' ? '{\n}' : BODY), body }))[0]).toBe(true);
    });

    it('accept pasted headers in any case, and the old secret during a rotation', async () => {
      const before = signed();
      const headers = Object.entries(before).map(([name, value]) => `> ${name.toUpperCase()}: ${value}`);
      const fields = { headers: ['POST /hook HTTP/1.1', 'Host: x', ...headers].join('\r\n') };
      expect(verdict(await check(fields))[0]).toBe(true);
      await service.app.get(EndpointsService).rotateSecret(endpoint.id, client.id, SERVICE_ACTOR);
      expect(verdict(await check(fields))[0]).toBe(true);
    });

    it('say that a timestamp is too old, and still whether the rest matches', async () => {
      const [matches, why] = verdict(await check(signed(BODY, new Date('2026-01-01T00:00:00Z'))));
      expect([matches, why.includes('more than five minutes')]).toEqual([true, true]);
    });

    it('keep what was typed, even an empty first line', async () => {
      const page = await check({ ...signed(), body: '\r\n<b>&' });
      expect(page.html.querySelector('#body')!.text).toContain('\n\r\n&lt;b>&amp;'.slice(1, 3));
      expect(page.html.querySelector('#webhook-id')!.getAttribute('value')).toBe('dlvr1');
      expect(page.text).not.toContain('<b>&');
    });

    it('require an endpoint, and say so', async () => {
      const empty = await enterPortal(service, await service.make.client());
      expect(wordsOf(await empty.open(VERIFY))).toContain('Add an endpoint first');
    });
  });

  it('list each event type that the scopes allow with description, scope and sample', async () => {
    const entries = (await browser.open('/portal/event_types')).html.querySelectorAll('.rows > li');
    expect(entries.map((entry) => entry.querySelector('h2')!.text)).toContain('charging_sub_session.ended');
    const first = entries[0]!.text.replaceAll('&quot;', '"');
    for (const words of listOf(`
      charging_session.created, charging_session:read, A vehicle was plugged in, "plugged_in_at",
      "id": "evnt0
    `)) {
      expect(first).toContain(words);
    }
  });

  it('have an example for curl and openssl whose signature the Standard Webhooks library accepts', async () => {
    const { code } = SNIPPETS.find(({ language }) => language.startsWith('curl'))!;
    const script = code.slice(0, code.indexOf('\ncurl')).replace('whsec_…', endpoint.secret);
    const { stdout } = await promisify(execFile)('bash', [
      '-euc',
      `${script}\necho "$TIMESTAMP"\necho "$BODY"`,
    ]);
    const [signature, timestamp, body] = stdout.split('\n');
    const headers = {
      'webhook-id': 'dlvr_by_hand',
      'webhook-timestamp': timestamp!,
      'webhook-signature': signature!,
    };
    expect(new Webhook(endpoint.secret).verify(body!, headers)).toMatchObject({
      id: expect.stringMatching(/^evnt0+$/) as string,
      type: 'webhook.test',
    });
  });
});
