import { AuditService } from '#records/audit/audit.service.js';
import { inBatches } from '#features/otlp-export/log-export.service.js';
import { RequestRecordsService } from '#records/requests/request-records.service.js';
import type { LogEntry } from '#features/otlp-export/log-exporter.js';
import { PASSWORD, type TestClient, until } from '../support/spec.js';
import { Secrets } from '../support/secrets.js';
import { leaveSilenceUnlimited } from '../support/patience.js';
import { startInstance, useService, type TestInstance } from '../support/test-service.js';
import { atEndOfFile } from '../support/between-files.js';
import { OtlpCollector, type ReceivedLog } from '../support/otlp-collector.js';

const EXPORT_MS = 700;

describe('The audit log and refused requests over OTLP', () => {
  const service = useService();
  const secrets = new Secrets();
  let collector: OtlpCollector;
  let client: TestClient;
  let admin: string;
  let first: TestInstance;
  let second: TestInstance;

  beforeAll(async () => {
    collector = await OtlpCollector.start();
    client = await service.make.client();
    admin = await service.make.adminToken();
    await changeAndRefuse('before anything is sent');
  });
  afterAll(async () => {
    await Promise.all([first, second].map(({ app }) => app.close()));
    await collector.stop();
  });

  /** An instance that sends the logs of the service's database. */
  const start = (): Promise<TestInstance> => {
    const settings = {
      OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: `${collector.url}/v1/logs`,
      // Less than the pause after which OpenTelemetry itself tries again.
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_EXPORTER_OTLP_TIMEOUT: String(EXPORT_MS),
    };
    // A batch that the collector has taken, but answered late on a busy machine, would be sent once more.
    leaveSilenceUnlimited(EXPORT_MS);
    // OpenTelemetry reads them itself.
    Object.assign(process.env, settings);
    atEndOfFile(() => Object.keys(settings).forEach((name) => delete process.env[name]));
    return startInstance(service.database, { ...settings, ROLE: 'worker' });
  };
  /** Who sends the logs. */
  const sender = async () => {
    const rows = await service.database.query('SELECT DISTINCT leased_by FROM log_exports');
    expect(rows).toHaveLength(1);
    return rows[0]!.leased_by as string | null;
  };
  /** Leaves an entry in each log. */
  const changeAndRefuse = async (name: string): Promise<void> => {
    const { status } = await service.http.send(`/admin/clients/${client.id}`, {
      method: 'PATCH',
      bearer: secrets.add('access token', admin),
      json: { description: name },
    });
    expect(status).toBe(200);
    const wrong = secrets.add('client secret', `not-the-secret-${'x'.repeat(40)}`);
    await service.http.token({ grant_type: 'client_credentials' }, { ...client, secret: wrong });
    await service.app.get(RequestRecordsService).flush();
  };
  const idsOf = (logs: readonly ReceivedLog[]) => logs.map(({ attributes }) => attributes['log.record.uid']);
  /** The ids of both logs, each in the order in which the operator's tool writes it. */
  const expected = async () => {
    const ids: { audit: string[]; refusals: string[] } = { audit: [], refusals: [] };
    for await (const { row } of service.app.get(AuditService).follow(undefined, false))
      ids.audit.push(row.id);
    for await (const { row } of service.app.get(RequestRecordsService).followRefusals(undefined, false))
      ids.refusals.push(`refusal-${row.id}`);
    return ids;
  };
  const received = (from = 0) => {
    const named = (name: string) =>
      idsOf(collector.logs.slice(from).filter(({ eventName }) => eventName === name));
    return { audit: named('audit.entry'), refusals: named('request.refused') };
  };
  const untilAllArrived = async (from = 0): Promise<void> => {
    // Transactions of other files on the same server hold the logs up until they end.
    const isHeldUp = `SELECT EXISTS (SELECT 1 FROM audit_events WHERE xid >= pg_snapshot_xmin(pg_current_snapshot()))
                        OR EXISTS (SELECT 1 FROM request_records WHERE xid >= pg_snapshot_xmin(pg_current_snapshot()))`;
    await until('both logs are complete', async () => {
      if (await service.database.value<boolean>(isHeldUp)) return false;
      const [written] = await service.database.query(
        `SELECT (SELECT count(*) FROM audit_events)::int AS audit,
                (SELECT count(*) FROM request_records WHERE status >= 400)::int AS refusals`,
      );
      const { audit, refusals } = await expected();
      return audit.length === written!.audit && refusals.length === written!.refusals;
    });
    // Nothing else writes them.
    const all = await expected();
    await until('everything has arrived', () => {
      const { audit, refusals } = received(from);
      return audit.includes(all.audit.at(-1)) && refusals.includes(all.refusals.at(-1)!);
    });
    expect(received(from)).toEqual(await expected());
  };

  /** By the metrics of the first instance, of either log. */
  const lastSent = async (): Promise<number[]> =>
    [
      ...(await first.http.get('/metrics')).text.matchAll(
        /^log_export_last_success_timestamp_seconds\{log="\w+"\} (\S+)$/gm,
      ),
    ].map(([, at]) => Number(at));

  it('are sent from their beginning, in the order of commits, once, as the operator’s tool writes them', async () => {
    first = await start();
    await untilAllArrived();
    await changeAndRefuse('while it runs');
    await untilAllArrived();
    const [changed, refused] = ['client.updated', 'request.refused'].map((name) =>
      collector.logs.findLast(({ eventName, attributes }) =>
        [eventName, attributes['audit.action']].includes(name),
      ),
    );
    expect(changed).toMatchObject({
      eventName: 'audit.entry',
      severityText: 'INFO',
      severityNumber: 9,
      body: { stringValue: `client.updated ${client.id}` },
      attributes: {
        'audit.subject.id': client.id,
        'audit.subject.type': 'client',
        'audit.actor.type': 'client',
        'client.address': '127.0.0.1',
        'request.id': expect.any(String) as string,
        'audit.after': { values: [{ key: 'description', value: { stringValue: 'while it runs' } }] },
      },
      resource: { 'service.name': 'charging-data-service' },
    });
    expect(refused).toMatchObject({
      severityText: 'WARN',
      severityNumber: 13,
      attributes: {
        'http.request.method': 'POST',
        'http.route': '/o/token',
        'http.response.status_code': 401,
        'error.type': 'invalid_client',
        'oauth.client.id': client.id,
        'refusal.reason': expect.any(String) as string,
        'request.id': expect.any(String) as string,
      },
    });
    expect(Object.keys(refused!.attributes)).not.toContain('client.address');
    const [event] = await service.database.query<{ at: Date }>(
      'SELECT occurred_at AS at FROM audit_events WHERE id = $1',
      [changed!.attributes['log.record.uid']],
    );
    expect(changed!.timeUnixNano).toBe(`${event!.at.getTime()}000000`);
    secrets.add('password', PASSWORD);
    secrets.add('client secret', client.secret);
    expect(secrets.in(JSON.stringify(collector.received))).toEqual([]);
  });

  it.each([
    ['refuses them', 400],
    ['is overloaded', 503],
    ['hangs up', undefined],
  ])('wait while the collector %s; the log says so once, and nothing is lost', async (_what, status) => {
    const linesBefore = first.log.length;
    const says = (words: string) =>
      first.log.slice(linesBefore).filter((line) => line.includes(words)).length;
    collector.status = status;
    const attempts = collector.received.length;
    await changeAndRefuse(`while the collector answers ${status}`);
    await until('it was tried again and again', () => collector.received.length > attempts + 3);
    const stuck = await lastSent();
    await changeAndRefuse(`and still ${status}`);
    await until('it was tried once more', () => collector.received.length > attempts + 6);
    expect(await lastSent()).toEqual(stuck);
    collector.status = 200;
    await untilAllArrived();
    await until('the log says both', () => says('are exported again') === 1);
    expect(says('cannot be exported and wait in the database')).toBe(1);
    await until('the metrics say so', async () => (await lastSent()).every((at, n) => at > stuck[n]!));
  });

  it('are sent by one of two instances, and by the other one when it stops', async () => {
    const one = await sender();
    second = await start();
    await changeAndRefuse('with two instances');
    await untilAllArrived();
    expect(await sender()).toBe(one);
    await first.app.close();
    expect(await sender()).not.toBe(one);
    await changeAndRefuse('with the other one');
    await untilAllArrived();
    expect([null, one]).not.toContain(await sender());
  });

  it('go on after an instance that was killed, when its lease is over', async () => {
    await second.app.close();
    await service.database.query(
      "UPDATE log_exports SET leased_by = 'killed', leased_until = now() + interval '1 hour'",
    );
    await changeAndRefuse('while nobody sends');
    const sent = collector.logs.length;
    first = await start();
    expect([await sender(), collector.logs.length]).toEqual(['killed', sent]);
    await service.database.query('UPDATE log_exports SET leased_until = now()');
    await untilAllArrived();
    expect(await sender()).not.toBe('killed');
  });

  it('are sent anew from a database that was restored into another server, whose cursors say nothing here', async () => {
    const sent = collector.logs.length;
    await service.database.query("UPDATE log_exports SET server = 'another'");
    await untilAllArrived(sent);
  });

  it('come in batches that a collector takes', async () => {
    const entry = (body: string): LogEntry => ({
      event: 'audit.entry',
      at: new Date(0),
      severity: 'INFO',
      body,
      attributes: {},
    });
    const sizes = async (bodies: string[]): Promise<[number, string][]> => {
      const log = (async function* () {
        for (const [n, body] of bodies.entries()) yield { entry: entry(body), cursor: String(n + 1) };
      })();
      const all: [number, string][] = [];
      for await (const { entries, cursor } of inBatches(log)) all.push([entries.length, cursor]);
      return all;
    };
    expect(await sizes([])).toEqual([]);
    expect(await sizes(Array<string>(450).fill('x'))).toEqual([
      [200, '200'],
      [200, '400'],
      [50, '450'],
    ]);
    expect(await sizes(['x', 'x'.repeat(400_000), 'x'.repeat(200_000), 'x'.repeat(900_000), 'x'])).toEqual([
      [2, '2'],
      [1, '3'],
      [1, '4'],
      [1, '5'],
    ]);
  });
});
