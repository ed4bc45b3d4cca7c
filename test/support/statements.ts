import { Client } from 'pg';

/** What the service does every few seconds by itself, and what each new connection begins with. */
const isHousekeeping = (sql: string): boolean =>
  /resolve_at <= now\(\)|SKIP LOCKED|activity_hours|pg_notify|pg_listening_channels|pg_current_snapshot|^SET enable_/.test(
    sql,
  );

/** Every statement that goes to the database meanwhile from this process, but for what the service does by itself. */
export async function statementsDuring(work: () => Promise<unknown>): Promise<string[]> {
  const statements = jest.spyOn(Client.prototype, 'query');
  try {
    await work();
    return statements.mock.calls
      .map(([statement]) =>
        typeof statement === 'string' ? statement : String((statement as { text?: string }).text),
      )
      .filter((sql) => !isHousekeeping(sql));
  } finally {
    statements.mockRestore();
  }
}
