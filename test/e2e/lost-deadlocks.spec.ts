import { Client } from 'pg';
import type { UserEntity } from '../../src/users/accounts/user.entity.js';
import type { TestClient } from '../support/factory.js';
import { untilWaitingForLocks } from '../support/locks.js';
import { exchange } from '../support/oauth.js';
import { startService, type TestService } from '../support/test-service.js';

/*
 * Disabling a user locks the user and then the user's clients. What is issued to a client locks the client first. If the two
 * meet, PostgreSQL ends one of them; here always the one that issues.
 */
let service: TestService;
let owner: UserEntity;
let client: TestClient;
let holding: Client;
let ending: Client;

beforeAll(async () => {
  service = await startService({ databaseOptions: { lock_timeout: '0', statement_timeout: '0' } });
  [holding, ending] = [await connection(), await connection()];
  // Only the other side looks for a deadlock, so it is the one that loses.
  await ending.query("SET deadlock_timeout = '1h'");
});
beforeEach(async () => {
  owner = await service.make.user();
  client = await service.make.client({ ownerId: owner.id });
});
afterAll(async () => {
  await holding.end();
  await ending.end();
  await service.stop();
});

async function connection(): Promise<Client> {
  const made = new Client({ connectionString: service.database.url });
  await made.connect();
  return made;
}

/** Runs `issue` so that it holds the client and waits for the owner, while another holds the owner and waits for the client. */
async function losing<T>(issue: () => Promise<T>): Promise<T> {
  await holding.query('BEGIN');
  await holding.query('SELECT 1 FROM users WHERE id = $1 FOR NO KEY UPDATE', [owner.id]);
  // In one message: once it has the user it goes on to the clients.
  const other = ending.query(
    `BEGIN;
     SELECT 1 FROM users WHERE id = '${owner.id}' FOR NO KEY UPDATE;
     UPDATE clients SET token_epoch = token_epoch WHERE owner_id = '${owner.id}';
     ROLLBACK`,
  );
  await untilWaitingForLocks(service.database, 1);
  const issuing = issue();
  await untilWaitingForLocks(service.database, 2);
  await holding.query('ROLLBACK');
  const [answer] = await Promise.all([issuing, other]);
  return answer;
}

it('An exchange of a code that lost a deadlock is run again', async () => {
  const code = await service.make.code(client, owner);
  expect((await losing(() => exchange(service.http, client, code))).status).toBe(200);
});

it('A portal link whose statement lost a deadlock is stored by the next', async () => {
  const bearer = await service.make.clientToken(client);
  expect((await losing(() => service.http.get('/webhook_portal', { bearer }))).status).toBe(200);
});
