import { Injectable, Logger } from '@nestjs/common';
import { Gauge } from 'prom-client';
import { AuditService } from '#records/audit/audit.service.js';
import { Settings } from '#platform/config/settings.js';
import { PeriodicWorker } from '#platform/database/background/periodic-worker.js';
import { SchemaCompatibility } from '#platform/database/migrations/schema-compatibility.service.js';
import { RequestRecordsService } from '#records/requests/request-records.service.js';
import { newUlid } from '#platform/secrets/ids.js';
import type { LogEntry, LogExport } from './log-exporter.js';
import type { AuditEventEntity } from '#records/audit/audit-event.entity.js';
import type { RequestRecordEntity } from '#records/requests/request-record.entity.js';
import type { LogExportEntity } from './log-export.entity.js';
import { LogExportsRepository, type LeasedLog } from './log-exports.repository.js';

const LONGEST_MS = 10_000;
/** Of a batch, whichever comes first: collectors refuse what is too large. */
const ENTRIES_MAX = 200;
const CHARACTERS_MAX = 500_000;
/** Contract §14: within the time of a shutdown. */
const LAST_BATCH_MS = 1_000;

const lastSent = new Gauge({
  name: 'log_export_last_success_timestamp_seconds',
  help: 'When this instance last sent what was waiting of a log over OTLP; from its start if it has not yet',
  labelNames: ['log'] as const,
});

type Log = AsyncGenerator<{ entry: LogEntry; cursor: string }>;

/**
 * Sends the audit log and refused requests over OTLP, if configured: in the order of their commits, at least once, by one
 * instance at a time. The position is stored in the database, so that nothing is lost while a collector or an instance is down.
 */
@Injectable()
export class LogExportService extends PeriodicWorker {
  private readonly instance = newUlid();
  private exporter: LogExport | undefined;

  private readonly logs: Record<LogExportEntity['log'], (cursor: string | undefined) => Log>;

  constructor(
    private readonly repository: LogExportsRepository,
    audit: AuditService,
    requests: RequestRecordsService,
    settings: Settings,
    schema: SchemaCompatibility,
  ) {
    super(
      { everyMs: 1_000, failure: 'The audit log and refused requests could not be sent' },
      settings,
      schema,
    );
    this.logs = {
      audit: (cursor) => entriesOf(audit.follow(cursor, false), auditEntry),
      refusals: (cursor) => entriesOf(requests.followRefusals(cursor, false), refusalEntry),
    };
  }

  override async onApplicationBootstrap(): Promise<void> {
    void super.onApplicationBootstrap();
    const { logExport, works } = this.settings;
    if (!logExport || !works) return;
    const { startLogExport } = await import('./log-exporter.js');
    this.exporter = startLogExport(logExport, new Logger('Logs'));
    for (const log of Object.keys(this.logs)) lastSent.labels(log).setToCurrentTime();
  }

  override async beforeApplicationShutdown(): Promise<void> {
    const { exporter } = this;
    const timer = setTimeout(() => exporter?.giveUp(), LAST_BATCH_MS);
    await super.beforeApplicationShutdown();
    clearTimeout(timer);
    if (!exporter) return;
    await this.repository.release(this.instance).catch(() => undefined);
    await exporter.stop();
  }

  protected async work(): Promise<void> {
    const { exporter } = this;
    if (!exporter) return;
    const leased = await this.repository.lease(this.instance);
    await Promise.all(leased.map((each) => this.sendRest(exporter, each)));
  }

  /** Sends waiting entries until a batch fails, or the lease of the other log might expire. */
  private async sendRest(exporter: LogExport, leased: LeasedLog): Promise<void> {
    const end = performance.now() + LONGEST_MS;
    for await (const { entries, cursor } of inBatches(this.logs[leased.log](leased.cursor ?? undefined))) {
      if (this.stopping.signal.aborted || !(await exporter.send(entries))) return;
      if (!(await this.repository.advance(this.instance, leased, cursor))) return;
      if (performance.now() > end) break;
    }
    lastSent.labels(leased.log).setToCurrentTime();
  }
}

async function* entriesOf<Row>(
  rows: AsyncGenerator<{ row: Row; cursor: string }>,
  entryOf: (row: Row) => LogEntry,
): Log {
  for await (const { row, cursor } of rows) yield { entry: entryOf(row), cursor };
}

/** Batches that are small enough, each with the cursor after its last entry. */
export async function* inBatches(log: Log): AsyncGenerator<{ entries: LogEntry[]; cursor: string }> {
  let entries: LogEntry[] = [];
  let characters = 0;
  let last = '';
  for await (const { entry, cursor } of log) {
    const length = JSON.stringify(entry).length;
    if (entries.length === ENTRIES_MAX || (entries.length > 0 && characters + length > CHARACTERS_MAX)) {
      yield { entries, cursor: last };
      entries = [];
      characters = 0;
    }
    entries.push(entry);
    characters += length;
    last = cursor;
  }
  if (entries.length > 0) yield { entries, cursor: last };
}

/** An entry of the audit log: what `operator audit` writes. */
const auditEntry = (event: AuditEventEntity): LogEntry => ({
  event: 'audit.entry',
  at: event.occurredAt,
  severity: 'INFO',
  body: `${event.action} ${event.subjectId}`,
  attributes: {
    // Lets the receiver recognize duplicates.
    'log.record.uid': event.id,
    'audit.action': event.action,
    'audit.actor.type': event.actorType,
    'audit.actor.id': event.actorId,
    'audit.subject.type': event.subjectType,
    'audit.subject.id': event.subjectId,
    'audit.before': event.before,
    'audit.after': event.after,
    'client.address': event.address,
    'request.id': event.requestId,
  },
});

/** A refused request: what `operator refusals` writes. */
const refusalEntry = (record: RequestRecordEntity): LogEntry => ({
  event: 'request.refused',
  at: record.occurredAt,
  severity: record.status >= 500 ? 'ERROR' : 'WARN',
  body: [record.method, record.route, record.status, record.refused ?? record.error ?? '']
    .join(' ')
    .trimEnd(),
  attributes: {
    'log.record.uid': `refusal-${record.id}`,
    'request.id': record.requestId,
    'http.request.method': record.method,
    'http.route': record.route,
    'http.response.status_code': record.status,
    'error.type': record.error ?? String(record.status),
    'oauth.client.id': record.clientId,
    'refusal.kind': record.refusedKind,
    'refusal.reason': record.refused,
    'refusal.milliseconds': record.milliseconds,
    'refusal.injected': record.injected,
  },
});
