import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { authorizePath, BrowserSession } from '../support/browser-session.js';
import { Factory, PASSWORD, REDIRECT_URI, type TestClient } from '../support/factory.js';
import { exchange, freePort, Http, startInstance, TYPE, until } from '../support/spec.js';
import { Receiver } from '../support/receiver.js';
import { Secrets } from '../support/secrets.js';
import { SHUTDOWN_LIMITS, SpawnedService } from '../support/spawned-service.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { OtlpCollector } from '../support/otlp-collector.js';
import { linesOf, SERVER, settingsFor, startBuilt, tokenOf, TRACE_ID, TRACE_PARENT } from './tracing.js';

const CLIENT = 3;
const UNSET = 0;
const ERROR = 2;

let database: TestDatabase;
let partner: TestClient;
let operator: TestClient;
let email: string;
let userId: string;

beforeAll(async () => {
  database = await createTestDatabase();
  const instance = await startInstance(database, {});
  const make = new Factory(instance);
  partner = await make.client();
  operator = await make.operatorClient();
  const user = await make.user();
  await make.consent(partner, user);
  ({ email, id: userId } = user);
  // From here on, the tests run the built service in a process of its own.
  await instance.app.close();
});
afterAll(async () => {
  await SpawnedService.killAll();
  await database.drop();
});

const statusIs =
  (status: number) =>
  ({ attributes }: { attributes: Record<string, unknown> }): boolean =>
    attributes['http.response.status_code'] === status;

describe('Without OTEL_EXPORTER_OTLP_ENDPOINT,', () => {
  it('nothing of OpenTelemetry is loaded, and no log line names a trace', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'charging-data-traces-'));
    const hook = path.join(folder, 'hook.cjs');
    await writeFile(
      hook,
      `process.on('exit', () => require('fs').writeSync(1, 'loaded: ' + JSON.stringify(Object.keys(require.cache)) + '\\n'))`,
    );
    const { service, http } = await startBuilt(database, { NODE_OPTIONS: `--require ${hook}` });
    await tokenOf(http, partner, TRACE_PARENT);
    expect(await service.stop()).toBe(0);
    await rm(folder, { recursive: true });
    const loaded = JSON.parse(/^loaded: (.*)$/m.exec(service.printed)![1]!) as string[];
    expect(loaded.some((file) => file.includes('/pg/'))).toBe(true);
    // The metrics library loads the API package, which does nothing by itself.
    expect(loaded.filter((file) => /opentelemetry\/(?!api\/)|in-the-middle/.test(file))).toEqual([]);
    expect(service.printed).not.toContain('trace_id');
  });
});

describe('With a collector, the service', () => {
  let collector: OtlpCollector;
  let service: SpawnedService;
  let http: Http;

  beforeAll(async () => {
    collector = await OtlpCollector.start();
    ({ service, http } = await startBuilt(database, {
      ...settingsFor(collector),
      OTEL_SERVICE_NAME: 'authority-a',
      OTEL_EXPORTER_OTLP_HEADERS: 'x-collector-key=for-the-collector',
    }));
  });
  afterAll(async () => {
    await SpawnedService.killAll();
    await collector.stop();
  });

  it('continues the caller’s trace with the route, the statements without their parameters, and the log lines', async () => {
    await tokenOf(http, partner, TRACE_PARENT);
    const request = await collector.span('the request', ({ name }) => name === 'POST /o/token');
    expect(request).toMatchObject({ traceId: TRACE_ID, parentSpanId: 'b7ad6b7169203331', kind: SERVER });
    expect(request.attributes).toEqual({
      'http.request.method': 'POST',
      'http.route': '/o/token',
      'url.scheme': 'http',
      'client.address': '127.0.0.1',
      'http.response.status_code': 200,
      'request.id': expect.any(String) as string,
    });
    // That without a name of its own is in the test of the metrics.
    expect(request.resource).toMatchObject({ 'service.name': 'authority-a' });
    const isStatement = ({ attributes }: { attributes: Record<string, unknown> }) =>
      String(attributes['db.query.text']).includes('FROM clients c JOIN users o');
    const statement = await collector.span('the statement', isStatement);
    expect(statement).toMatchObject({ traceId: TRACE_ID, parentSpanId: request.spanId, kind: CLIENT });
    expect(JSON.stringify(statement)).not.toContain(partner.id);
    expect(collector.received.every(({ url }) => url === '/v1/traces')).toBe(true);
    expect(collector.received[0]!.headers['x-collector-key']).toBe('for-the-collector');
    const isLine = ({ route, msg }: Record<string, unknown>) => msg === 'request' && route === '/o/token';
    // Log lines are written in batches, a little later.
    await until('the line is written', () => linesOf(service).some(isLine));
    const line = linesOf(service).find(isLine);
    expect(line).toMatchObject({ trace_id: TRACE_ID, request_id: request.attributes['request.id'] });
  });

  it("starts a trace if the caller has none, and records failures without the database's messages", async () => {
    const bearer = await tokenOf(http, operator);
    await http.get('/v2/users', { bearer, headers: { traceparent: 'nonsense' } });
    await http.get('/nothing/of/the/kind');
    const refused = await collector.span('a 403', ({ name }) => name === 'GET /v2/users');
    expect([refused.parentSpanId, refused.status.code]).toEqual([undefined, UNSET]);
    expect(refused.resource).toMatchObject({
      'service.name': 'authority-a',
      'service.instance.id': expect.stringMatching(/^[\da-f-]{36}$/),
    });
    const unrouted = await collector.span('a 404', ({ name }) => name === 'GET');
    expect(unrouted.attributes['http.response.status_code']).toBe(404);
    const another = await tokenOf(http, partner);
    await database.query('ALTER TABLE consents RENAME TO consents_away');
    try {
      expect((await http.get('/v2/users', { bearer: another })).status).toBe(500);
    } finally {
      await database.query('ALTER TABLE consents_away RENAME TO consents');
    }
    const failed = await collector.span('a 500', statusIs(500));
    expect(failed.status).toEqual({ code: ERROR });
    const statement = await collector.span(
      'the statement that failed',
      ({ parentSpanId, status }) => parentSpanId === failed.spanId && status.code === ERROR,
    );
    expect(statement.status).toEqual({ code: ERROR });
  });

  it('traces each attempt to deliver a webhook, without showing it to partners', async () => {
    const receiver = await Receiver.start((response, { url }) => {
      response.writeHead(url.startsWith('/good') ? 200 : 503).end();
    });
    const bearer = await tokenOf(http, operator);
    for (const place of ['/good', '/bad']) {
      const { status } = await http.send(`/admin/clients/${partner.id}/webhook_endpoints`, {
        bearer,
        json: { url: receiver.url(`${place}?partner=hidden-in-the-url`), event_types: [TYPE], enabled: true },
      });
      expect(status).toBe(201);
    }
    const event = { type: TYPE, user_id: userId, timestamp: '2026-01-01T00:00:00Z', data: {} };
    await http.send('/v2/events', { bearer, json: event, headers: TRACE_PARENT });
    const attemptWith = (code: number) =>
      collector.span(
        `an attempt answered ${code}`,
        (span) => span.name === 'webhook attempt' && statusIs(code)(span),
      );
    const [good, bad] = [await attemptWith(200), await attemptWith(503)];
    expect(good).toMatchObject({ kind: CLIENT, status: {} });
    expect(good.attributes).toMatchObject({
      'webhook.event.type': TYPE,
      'webhook.delivery.state': 'delivered',
      'webhook.delivery.id': expect.stringMatching(/^dlvr/) as string,
    });
    expect([good.parentSpanId, good.traceId === TRACE_ID, bad.status.code]).toEqual([
      undefined,
      false,
      ERROR,
    ]);
    expect(receiver.requests.flatMap(({ headers }) => Object.keys(headers))).not.toContain('traceparent');
    // The workers' own activity is in nobody else's trace.
    const ofThePublisher = collector.spans.filter(({ traceId }) => traceId === TRACE_ID);
    expect(ofThePublisher.some(({ name }) => name === 'POST /v2/events')).toBe(true);
    expect(JSON.stringify(ofThePublisher)).not.toMatch(/UPDATE deliveries|pg_notify/);
    expect(JSON.stringify(collector.spans)).not.toContain('hidden-in-the-url');
    await receiver.stop();
  });

  it('records no secret from links, query strings, forms, headers or cookies', async () => {
    const secrets = new Secrets();
    secrets.add('client secret', partner.secret);
    secrets.add('password', PASSWORD);
    const bearer = secrets.add('access token', await tokenOf(http, partner));
    const admin = secrets.add('access token', await tokenOf(http, operator));
    const link = (await http.get('/webhook_portal', { bearer })).json as { url: string };
    secrets.add('portal key', link.url.split('/').at(-1));
    const portal = new BrowserSession(http.url);
    const { pathname } = new URL(link.url);
    await portal.fillIn(pathname);
    secrets.cookies(portal);
    const set = await http.send(`/admin/users/${userId}/password_links`, { method: 'POST', bearer: admin });
    const key = secrets.add('password key', (set.json as { url: string }).url.split('/').at(-1));
    await http.get(new URL((set.json as { url: string }).url).pathname);
    const browser = new BrowserSession(http.url);
    await browser.logIn(email, PASSWORD);
    secrets.cookies(browser);
    const state = secrets.add('state', 'a state that is the partner’s own');
    const query = { response_type: 'code', client_id: partner.id, redirect_uri: REDIRECT_URI };
    const page = await browser.open(authorizePath({ ...query, state }));
    const { headers } = await browser.submit(page, '/o/authorize/', { decision: 'authorize' });
    const { searchParams } = new URL(headers.get('location')!);
    const code = secrets.add('authorization code', searchParams.get('code'));
    secrets.tokens(await exchange(http, partner, code));
    await http.get(`/v2/users?access_token=${bearer}`);
    await http.get(`/nothing/${key}?password=${encodeURIComponent(PASSWORD)}`);
    // The last spans are sent during the shutdown.
    expect(await service.stop()).toBe(0);
    const text = collector.received.map(({ body }) => body).join('\n');
    for (const route of ['/portal/', '/o/authorize', '/login', '/v2/users', '/o/token'])
      expect(text).toContain(route);
    expect(secrets.in(text)).toEqual([]);
    expect(secrets.in(service.printed)).toEqual([]);
    expect(text).not.toMatch(/cds_[a-z]{2}_|code=|state=/);
    expect(text).not.toContain(email);
  });
});

describe('While the collector is unavailable,', () => {
  it('requests are served, the log says it once, and the shutdown is in time', async () => {
    const port = await freePort();
    const settings = {
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
      OTEL_BSP_SCHEDULE_DELAY: '20',
      OTEL_EXPORTER_OTLP_TIMEOUT: '100',
      OTEL_METRICS_EXPORTER: 'none',
    };
    // "In time" means that no limit of the shutdown applies, because here they never run out.
    const { service, http } = await startBuilt(database, settings, Object.values(SHUTDOWN_LIMITS));
    const complaints = () => linesOf(service).filter(({ context }) => context === 'Tracing');
    await until('the log says so', async () => {
      await tokenOf(http, partner);
      return complaints().length > 0;
    });
    for (let n = 0; n < 40; n++) expect(await tokenOf(http, partner)).toMatch(/^cds_at_/);
    expect(await service.stop()).toBe(0);
    expect(complaints().map(({ level }) => level)).toEqual(['warn']);
  });
});
