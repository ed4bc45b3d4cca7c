import { readFileSync } from 'node:fs';
import { Listener } from '#platform/database/connections/listener.service.js';
import { sharedStoreGauge } from '#access/rate-limits/rate-limit-metrics.js';
import { PurgeService } from '#platform/database/purge/purge.service.js';
import { sharedService, useService } from '../support/test-service.js';
import { BrowserSession, type HttpOptions, PASSWORD, until, WEBHOOK_ENV, Webhooks } from '../support/spec.js';

const ENDS = ['delivered', 'failed'];
const TOKEN = 'a-token-for-the-metrics';

describe('The metrics', () => {
  const service = useService({ env: { METRICS_TOKEN: TOKEN, ...WEBHOOK_ENV } });

  const metrics = async (): Promise<string> => (await service.http.get('/metrics', { bearer: TOKEN })).text;

  /** Returns how much this work adds to each series, by name and labels. */
  async function addedBy(work: () => Promise<unknown>): Promise<Record<string, number>> {
    const before = seriesIn(await metrics());
    await work();
    const after = seriesIn(await metrics());
    return Object.fromEntries(
      Object.entries(after).map(([name, value]) => [name, value - (before[name] ?? 0)] as const),
    );
  }

  it.each<[string, HttpOptions, query?: string]>([
    ['no token', {}],
    ['an empty token', { bearer: '' }],
    ['another token', { bearer: `${TOKEN}x` }],
    ['a part of the token', { bearer: TOKEN.slice(0, -1) }],
    ['the token in the query string', {}, `?access_token=${TOKEN}`],
    ['the token as a password', { basic: { id: 'metrics', secret: TOKEN } }],
  ])('refuse a request with %s', async (_what, options, query = '') => {
    const answer = await service.http.get(`/metrics${query}`, options);
    expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, 'Bearer realm="metrics"']);
    expect(Object.keys(answer.json as object)).toEqual(['status', 'title', 'detail']);
    expect(answer.text).not.toContain('rate_limit');
  });

  it("refuse operators' access tokens", async () => {
    expect((await service.http.get('/metrics', { bearer: await service.make.adminToken() })).status).toBe(
      401,
    );
  });

  it('are in the Prometheus format', async () => {
    const { status, headers, text } = await service.http.get('/metrics', { bearer: TOKEN });
    expect([status, headers.get('content-type')]).toEqual([
      200,
      expect.stringMatching(/^text\/plain; version=0\.0\.4/),
    ]);
    expect(text).toMatch(/^# HELP rate_limit_decisions_total /m);
  });

  it('are there for everybody without a token in the settings', async () => {
    expect((await (await sharedService()).http.get('/metrics')).status).toBe(200);
  });

  it('count requests by route pattern and status, without addresses or secrets', async () => {
    const token = await service.make.clientToken(await service.make.client());
    await service.http.get('/v2/users/user01HN2NJ9NMRZBXT1H6FT9N7735', { bearer: token });
    await service.http.get('/nowhere/at-all', { bearer: token });
    const text = await metrics();
    expect(text).toMatch(
      /http_request_duration_seconds_count\{method="GET",route="\/v2\/users\/:id",status="404"\} [1-9]/,
    );
    expect(text).toMatch(
      /http_request_duration_seconds_count\{method="POST",route="\/o\/token",status="200"\} [1-9]/,
    );
    expect(text).not.toMatch(/user01HN2NJ9|nowhere/);
    expect(text).not.toContain(token);
  });

  it('count refusals by endpoint and error, and failed client authentications by reason', async () => {
    const client = await service.make.client();
    const basic = client;
    const added = await addedBy(async () => {
      await service.http.token({ grant_type: 'client_credentials' }, { ...basic, secret: 'x'.repeat(40) });
      await service.http.token({ grant_type: 'client_credentials' }, { ...basic, secret: 'y'.repeat(40) });
      await service.http.token({ grant_type: 'password' }, basic);
      await service.http.token({ grant_type: 'refresh_token', refresh_token: 'z' }, basic);
      await service.http.send('/o/revoke_token/', { form: {}, basic });
      await service.http.send('/o/introspect/', { form: { token: 'x' }, basic });
    });
    expect(added).toMatchObject({
      'oauth_refusals_total{endpoint="/o/token",error="invalid_client"}': 2,
      'oauth_refusals_total{endpoint="/o/token",error="unsupported_grant_type"}': 1,
      'oauth_refusals_total{endpoint="/o/token",error="invalid_grant"}': 1,
      'oauth_refusals_total{endpoint="/o/revoke_token",error="invalid_request"}': 1,
      'oauth_refusals_total{endpoint="/o/introspect",error="insufficient_scope"}': 1,
      'oauth_client_authentication_failures_total{reason="wrong_secret"}': 2,
    });
    expect(await metrics()).not.toContain(client.id);
  });

  it('count refused bearer tokens by reason', async () => {
    const added = await addedBy(async () => {
      await service.http.get('/v2/users');
      // Another scheme does not carry a bearer token (RFC 6750 §3.1).
      for (const authorization of ['Bearer nonsense', 'Bearer a b', 'Basic Og=='])
        await service.http.get('/v2/users', { headers: { authorization } });
      await service.http.get('/v2/users?access_token=x');
    });
    expect(added).toMatchObject({
      'bearer_refusals_total{reason="no_token"}': 2,
      'bearer_refusals_total{reason="token_malformed"}': 2,
      'bearer_refusals_total{reason="token_in_query"}': 1,
    });
  });

  it('count logins by result, including rate-limited ones', async () => {
    const { email } = await service.make.user();
    const browser = new BrowserSession(service.url);
    const added = await addedBy(async () => {
      const page = await browser.open('/login');
      for (let n = 0; n < 11; n++) await browser.submit(page, '/login', { email, password: 'wrong, again' });
      const { email: another } = await service.make.user();
      await new BrowserSession(service.url).logIn(another, PASSWORD);
    });
    const failed = added['sign_ins_total{result="failed"}']!;
    const slowed = added['sign_ins_total{result="slowed"}']!;
    expect([added['sign_ins_total{result="succeeded"}'], failed + slowed]).toEqual([1, 11]);
    expect(slowed).toBeGreaterThan(0);
  });

  it('count tokens by grant type and introspections by result', async () => {
    const client = await service.make.client();
    const operator = await service.make.operatorClient();
    const added = await addedBy(async () => {
      const { refresh_token } = await service.make.tokens(client, await service.make.user());
      await service.http.token({ grant_type: 'refresh_token', refresh_token }, client);
      const token = await service.make.clientToken(client);
      for (const each of [token, token, refresh_token])
        await service.http.send('/o/introspect', { form: { token: each }, basic: operator });
    });
    expect(added).toMatchObject({
      'oauth_tokens_issued_total{grant_type="authorization_code"}': 1,
      'oauth_tokens_issued_total{grant_type="refresh_token"}': 1,
      'oauth_tokens_issued_total{grant_type="client_credentials"}': 1,
      'oauth_introspections_total{result="active"}': 2,
      'oauth_introspections_total{result="inactive"}': 1,
    });
  });

  it('count deliveries by their final state', async () => {
    const hooks = await Webhooks.start(service);
    const client = await service.make.client();
    await hooks.endpoint(client);
    await hooks.endpoint(client, { reply: 410 });
    const user = await hooks.consentedUser(client);
    const before = seriesIn(await metrics());
    const added = await addedBy(async () => {
      const { json } = await hooks.publish(user.id);
      for (const { id } of await hooks.deliveriesOf(json.id as string)) await hooks.finished(id);
      // They are counted once they have been written; other services in this process have counted, too.
      await until('both are counted', async () => {
        const series = seriesIn(await metrics());
        return ENDS.every((state) => {
          const name = `webhook_deliveries_finished_total{state="${state}"}`;
          return series[name]! > (before[name] ?? 0);
        });
      });
    });
    await hooks.stop();
    expect(added).toMatchObject({
      'webhook_attempts_total{result="delivered"}': 1,
      'webhook_deliveries_finished_total{state="delivered"}': 1,
      'webhook_deliveries_finished_total{state="failed"}': 1,
    });
  });

  it('give the size of the pool and the time of the last successful purge', async () => {
    const before = Date.now() / 1000;
    await service.app.get(PurgeService).purge();
    const { database_connections_max: size, purge_last_success_timestamp_seconds: purged } = seriesIn(
      await metrics(),
    );
    // Taken last: the purge of every minute may have ended in between.
    const after = Date.now() / 1000;
    expect(size).toBe(10);
    expect([before <= purged!, purged! <= after]).toEqual([true, true]);
  });

  it('give the build, and whether the access changes are trusted', async () => {
    await until('they are trusted', async () => (await metrics()).includes('access_changes_trusted 1\n'));
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
    expect(await metrics()).toContain(`build_info{version="${version}",node="${process.versions.node}"} 1\n`);
    jest.spyOn(service.app.get(Listener), 'query').mockRejectedValue(new Error('nothing is heard'));
    expect(await metrics()).toContain('access_changes_trusted 0\n');
    jest.restoreAllMocks();
    await until('they are trusted again', async () =>
      (await metrics()).includes('access_changes_trusted 1\n'),
    );
  });

  it('have the mails that were not sent from the start, so that a rate sees the first ones', async () => {
    const text = await metrics();
    for (const reason of ['limit_of_network', 'limit_of_address', 'expired'])
      expect(text).toMatch(new RegExp(`^mails_withheld_total\\{reason="${reason}"\\} \\d+$`, 'm'));
  });

  it('include every metric that the dashboard and the alerts use', async () => {
    // As on an instance with Redis.
    sharedStoreGauge();
    const text = await metrics();
    for (const file of ['deploy/grafana/dashboard.json', 'deploy/prometheus/alerts.yml']) {
      const asked = expressionsIn(readFileSync(file, 'utf8')).flatMap(metricsIn);
      expect(asked.length).toBeGreaterThan(5);
      for (const name of asked) expect([file, name, isTold(text, name)]).toEqual([file, name, true]);
    }
    expect(isTold(text, 'no_such_metric_total')).toBe(false);
  });
});

/** Returns the samples of an exposition by name and labels. */
const seriesIn = (text: string): Record<string, number> =>
  Object.fromEntries(
    text
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]),
  );

/** Returns the PromQL expressions of a dashboard (JSON) or of alert rules (YAML, folded or not). */
function expressionsIn(file: string): string[] {
  if (file.startsWith('{')) {
    const { panels } = JSON.parse(file) as { panels: { targets: { expr: string }[] }[] };
    return panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
  }
  return [...file.matchAll(/^ +expr: (?:\|\n((?: {10,}.*\n)+)|(.*)\n)/gm)].map(
    ([, folded, line]) => folded ?? line!,
  );
}

/** Returns the metrics in a PromQL expression: every name that is not a function, keyword or label. */
function metricsIn(expression: string): string[] {
  const bare = expression
    .replace(/\{[^}]*\}|\[[^\]]*\]|\boffset \w+/g, '')
    .replace(/\b(by|without|on|ignoring|group_left|group_right) *\([^)]*\)/g, '');
  return [...bare.matchAll(/[a-z_][a-z0-9_]*(?![a-z0-9_]* *\()/g)]
    .map(([name]) => name)
    .filter((name) => !['up', 'and', 'or', 'unless', 'bool'].includes(name));
}

/** Whether the exposition has the metric, of any type. */
const isTold = (text: string, name: string): boolean =>
  new RegExp(`^# TYPE ${name.replace(/_(bucket|count|sum)$/, '')}(_count|_sum)? `, 'm').test(text) ||
  text.includes(`# TYPE ${name} `);
