import { newId } from '#platform/secrets/ids.js';
import type { Page } from './browser-session.js';
import type { TestClient } from './factory.js';
import { enterPortal } from './portal.js';
import type { TestDatabase } from './test-database.js';
import type { TestService } from './test-service.js';

/** Adds an address to the contacts of a client in its portal, which mails it a link. */
export const addContact = async (service: TestService, client: TestClient, email: string): Promise<Page> =>
  (await enterPortal(service, client)).fillIn('/portal/contacts', { email });

/** Adds an address to the contacts of a client, and returns its id. */
export async function insertContact(
  database: Pick<TestDatabase, 'query'>,
  clientId: string,
  email: string,
  isVerified = false,
): Promise<string> {
  const id = newId('cont');
  await database.query(
    `INSERT INTO client_contacts (id, client_id, email, email_key, verified_at)
     VALUES ($1, $2, $3, lower($3), CASE WHEN $4 THEN now() END)`,
    [id, clientId, email, isVerified],
  );
  return id;
}
