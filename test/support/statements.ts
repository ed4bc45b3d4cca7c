import { Client } from 'pg';
import { nameOf, type TestDatabase } from './test-database.js';

/** Statements that the service runs on its own: every few seconds or minutes, to note how a delivery ended, and first on each connection. */
const isHousekeeping = (sql: string): boolean =>
  /resolve_at <= now\(\)|SKIP LOCKED|lease_id = NULL|activity_hours|client_requests|request_records|client_secret_uses|client_key_uses|pg_notify|sandbox_planned_events|pg_listening_channels|pg_current_snapshot|turn_audit_events|purge_consent_versions|meaning_worked_off_at|consent_notices|expires_at <= now\(\) ORDER BY expires_at|expires_at <= now\(\) \+ make_interval|FROM consents WHERE \(client_id, user_id\) >|disclosure_|log_exports|account_deletions|"details" - 'password_hash'|^DISCARD PLANS|^LISTEN |^UNLISTEN |^SET enable_|wanted \(name, value\)/.test(
    sql,
  );

/** Every statement that is sent to the database of a service while `work` runs, except the service's background work. */
export async function statementsDuring(
  { database }: { database: Pick<TestDatabase, 'url'> },
  work: () => Promise<unknown>,
): Promise<string[]> {
  const name = nameOf(database);
  const statements = jest.spyOn(Client.prototype, 'query');
  try {
    await work();
    return statements.mock.calls
      .filter((_call, n) => (statements.mock.contexts[n] as Client).database === name)
      .map(([statement]) =>
        typeof statement === 'string' ? statement : String((statement as { text?: string }).text),
      )
      .filter((sql) => !isHousekeeping(sql));
  } finally {
    statements.mockRestore();
  }
}
