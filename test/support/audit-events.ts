import type { WithDatabase } from './tokens.js';

export interface AuditEvent {
  action: string;
  actor_type: string;
  actor_id: string | null;
  address: string | null;
  before: Record<string, unknown> | null;
  after: Record<string, unknown> | null;
}

/** What the audit log says about a subject, oldest first; of actions that begin like this, if that is said. */
export const auditEventsOn = (
  { database }: WithDatabase,
  subjectId: string,
  action = '',
): Promise<AuditEvent[]> =>
  database.query(
    `SELECT action, actor_type, actor_id, address, before, after FROM audit_events
      WHERE subject_id = $1 AND starts_with(action, $2) ORDER BY id`,
    [subjectId, action],
  );

export const actionsOn = async (service: WithDatabase, subjectId: string, action = ''): Promise<string[]> =>
  (await auditEventsOn(service, subjectId, action)).map((event) => event.action);

/** Why the last login was refused. */
export async function lastRefusal({ database }: WithDatabase): Promise<string | undefined> {
  const [row] = await database.query<{ reason: string }>(
    "SELECT after->>'reason' AS reason FROM audit_events WHERE action = 'session.refused' ORDER BY id DESC LIMIT 1",
  );
  return row?.reason;
}

export interface RaisedNotification {
  id: string;
  client_id: string | null;
  message_id: string;
  category: string;
  short_text_body: string;
}

/** The notifications of a user, oldest first. */
export const notificationsOf = ({ database }: WithDatabase, userId: string): Promise<RaisedNotification[]> =>
  database.query('SELECT * FROM notifications WHERE user_id = $1 ORDER BY id', [userId]);
