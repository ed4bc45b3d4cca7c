import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { newId } from '#platform/secrets/ids.js';
import { certificateFor, newAuthority } from '../support/certificates.js';
import { MailServer } from '../support/mail-server.js';
import { BrowserSession, until } from '../support/spec.js';
import { SpawnedService } from '../support/spawned-service.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { freePort } from '../support/free-port.js';
import { TEST_ENCRYPTION_KEY } from '../support/test-encryption-key.js';

const PATH = '/password/forgotten';

// One after another, because each process that is killed is followed by the one that the next test kills.
describe('mail of a process of its own, to a server that offers STARTTLS,', () => {
  let database: TestDatabase;
  let smtp: MailServer;
  let email: string;
  let folder: string;
  let service: SpawnedService;
  let url: string;

  beforeAll(async () => {
    database = await createTestDatabase();
    folder = await mkdtemp(path.join(tmpdir(), 'mail-'));
    const authority = await newAuthority('mail');
    await writeFile(path.join(folder, 'ca.pem'), authority.cert);
    const { private: key, cert } = await certificateFor('127.0.0.1', authority);
    smtp = await MailServer.start({ hideSTARTTLS: false, key, cert });
  });
  beforeEach(async () => {
    const id = newId('user');
    email = `${id.toLowerCase()}@mail.example`;
    await database.query('DELETE FROM mails');
    await database.query(
      `INSERT INTO users (id, email, email_key, name, kind, role) VALUES ($1, $2, $2, 'x', 'individual', 'user')`,
      [id, email],
    );
    smtp.onRecipient = () => undefined;
    smtp.onMail = () => undefined;
  });
  afterAll(async () => {
    await SpawnedService.killAll();
    await smtp.stop();
    await database.drop();
    await rm(folder, { recursive: true });
  });

  const start = async (more: Record<string, string> = {}): Promise<void> => {
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    service = await new SpawnedService({
      ...smtp.env,
      NODE_ENV: 'production',
      PORT: String(port),
      BASE_URL: url,
      DATABASE_URL: database.url,
      ENCRYPTION_KEY: TEST_ENCRYPTION_KEY,
      ...more,
    }).ready();
  };
  /** One that trusts the certificate of the server. */
  const startTrusting = () => start({ NODE_EXTRA_CA_CERTS: path.join(folder, 'ca.pem') });
  let asked = Promise.resolve();
  const ask = (): Promise<void> => {
    const browser = new BrowserSession(url);
    const send = async () => (await browser.submit(await browser.open(PATH), PATH, { email })).status;
    return (asked = send().then((status) => expect(status).toBe(200)));
  };
  /** Not before it has answered who asked for the mail. */
  const kill = async (): Promise<void> => {
    await asked;
    service.signal('SIGKILL');
    await service.exit();
  };
  const leases = () =>
    database.query<{ state: string; leased: boolean }>(
      'SELECT state, lease_until > now() AS leased FROM mails',
    );

  it('is not sent if the certificate is not right', async () => {
    await start();
    await ask();
    await until('an attempt has failed', async () => {
      const [row] = await database.query<{ last_error: string | null }>('SELECT last_error FROM mails');
      return row?.last_error?.startsWith('the SMTP server could not be reached, or broke off (E') ?? false;
    });
    expect([smtp.recipients, (await leases())[0]!.state]).toEqual([[], 'pending']);
    await kill();
  });

  it('that is killed before the server took it is sent once by the next one, over TLS, when the lease has expired', async () => {
    let isKilled = false;
    smtp.onRecipient = async () => {
      if (!isKilled) {
        isKilled = true;
        await kill();
      }
      return undefined;
    };
    await startTrusting();
    await ask();
    await until('it is killed', () => isKilled);
    await service.exit();
    expect(await leases()).toEqual([{ state: 'pending', leased: true }]);
    await database.query('UPDATE mails SET lease_until = now()');
    await startTrusting();
    expect((await smtp.mailTo(email)).isSecure).toBe(true);
    await until('it is marked as sent', async () => (await leases())[0]!.state === 'sent');
    expect(smtp.to(email)).toHaveLength(1);
  });

  it('that is killed after the server took it, and before that was written down, is sent again with the same Message-ID', async () => {
    smtp.onMail = async () => {
      if (smtp.to(email).length === 0) await kill();
      return undefined;
    };
    await ask();
    const first = await smtp.mailTo(email);
    expect(await leases()).toEqual([{ state: 'pending', leased: true }]);
    await database.query('UPDATE mails SET lease_until = now()');
    await startTrusting();
    const second = await smtp.mailTo(email, 2);
    expect([second.messageId, second.link]).toEqual([first.messageId, first.link]);
    await until('it is marked as sent', async () => (await leases())[0]!.state === 'sent');
  });
});
