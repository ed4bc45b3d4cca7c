import type { ForeignCondition } from './foreign-conditions.js';
import { PASSWORD, REDIRECT_URI, type TestClient, type Tokens } from './factory.js';
import { BrowserSession } from './browser-session.js';
import { exchange, expectOAuthError, refresh } from './oauth.js';
import { unexpectedErrors } from './refusals.js';
import { useService } from './test-service.js';
import { until } from './until.js';
import { WEBHOOK_ENV, Webhooks } from './webhooks.js';

const AT_ONCE = 8;
const HOUR_MS = 3_600_000;

/** The members whose names end in `_at`, of what an answer contains, that are no time of this hour. */
function wrongTimesIn(value: unknown, path = ''): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]: [string, unknown]) => {
    const here = `${path}/${name}`;
    if (!/_at$/.test(name) || member === null) return wrongTimesIn(member, here);
    const isTime = typeof member === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(member);
    // oxlint-disable-next-line tests/no-measured-times -- it tells the right time from one that is hours or months away
    const isNow = isTime && Math.abs(Date.parse(member) - Date.now()) < HOUR_MS;
    return isNow ? [] : [`${here}: ${String(member)}`];
  });
}

/** Defines the tests of what nobody can do without, on a service of its own under each of the conditions. */
export function describeFirstWays(conditions: readonly ForeignCondition[]): void {
  describe.each(conditions)('Under $name', (condition) => {
    const service = useService({ env: WEBHOOK_ENV, condition });
    let client: TestClient;
    let webhooks: Webhooks;

    beforeAll(async () => {
      client = await service.make.client();
      webhooks = await Webhooks.start(service);
    });
    afterAll(async () => {
      await webhooks.stop();
      // What is written behind is written now.
      await service.stop();
      const failures = service.log.filter((line) => /"level":"(error|fatal)"/.test(line));
      expect([...unexpectedErrors(service), ...failures]).toEqual([]);
    });

    it('a token is issued and accepted, and a used refresh token wins once', async () => {
      const user = await service.make.user();
      const { access_token, refresh_token } = await service.make.tokens(client, user);
      const me = await service.http.get('/v2/users', { bearer: access_token });
      expect([me.status, me.json]).toMatchObject([200, [{ id: user.id }]]);
      const answers = await Promise.all(
        Array.from({ length: AT_ONCE }, () => refresh(service.http, client, refresh_token)),
      );
      // The same pair for all, since a lost answer can be asked for again.
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
      expect(new Set(answers.map(({ json }) => (json as Tokens).refresh_token)).size).toBe(1);
    });

    it('one of many exchanges of a code succeeds, after the consent page, and the pages of the account open', async () => {
      const user = await service.make.user();
      const browser = new BrowserSession(service.url);
      await browser.logIn(user.email, PASSWORD);
      const parameters = { response_type: 'code', client_id: client.id, redirect_uri: REDIRECT_URI };
      const code = (await browser.authorize(parameters)).searchParams.get('code')!;
      const answers = await Promise.all(
        Array.from({ length: AT_ONCE }, () => exchange(service.http, client, code)),
      );
      const refused = answers.filter(({ status }) => status !== 200);
      expect(refused).toHaveLength(AT_ONCE - 1);
      for (const answer of refused) expectOAuthError(answer, 400, 'invalid_grant');
      for (const path of ['/account', '/account/sessions', `/account/applications/${client.id}/history`]) {
        const page = await browser.open(path);
        expect([path, page.status]).toEqual([path, 200]);
      }
    });

    it('an event is delivered, and each time in an answer is one of this hour', async () => {
      const user = await webhooks.consentedUser(client);
      const endpoint = await webhooks.endpoint(client);
      const { id, event_id } = await webhooks.publishOne(user.id);
      await webhooks.receives(endpoint);
      expect(await webhooks.finished(id)).toMatchObject({ state: 'delivered' });
      const { bearer } = webhooks;
      for (const path of [
        `/admin/users/${user.id}`,
        `/admin/clients/${client.id}`,
        `/admin/deliveries/${id}`,
        `/admin/audit_events?subject=${user.id}`,
        `/admin/users?q=${encodeURIComponent(user.email)}`,
      ]) {
        const answer = await service.http.get(path, { bearer });
        expect([path, answer.status, wrongTimesIn(answer.json)]).toEqual([path, 200, []]);
        expect([path, answer.text]).toEqual([path, expect.stringMatching(/"\w+_at":"20/)]);
      }
      const own = { bearer: await service.make.clientToken(client) };
      // As soon as no older transaction of the server is under way.
      await until('it is in the feed', async () => {
        const feed = await service.http.get('/v2/events', own);
        expect(feed.status).toBe(200);
        return feed.text.includes(event_id);
      });
    });
  });
}
