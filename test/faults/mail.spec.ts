import { MailServer } from '../support/mail-server.js';
import { BrowserSession } from '../support/browser-session.js';
import { Factory } from '../support/factory.js';
import { SpawnedService } from '../support/spawned-service.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { freePort, startInstance, TEST_ENCRYPTION_KEY } from '../support/test-service.js';
import { until } from '../support/until.js';

const PATH = '/password/forgotten';

describe('mail, when the process that sends it is killed,', () => {
  let database: TestDatabase;
  let smtp: MailServer;
  let email: string;
  let service: SpawnedService;

  beforeEach(async () => {
    database = await createTestDatabase();
    smtp = await MailServer.start();
    const instance = await startInstance(database, {});
    ({ email } = await new Factory(instance).user());
    await instance.app.close();
  });
  afterEach(async () => {
    await SpawnedService.killAll();
    await smtp.stop();
    await database.drop();
  });

  const start = async (): Promise<string> => {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    service = await new SpawnedService({
      ...smtp.env,
      NODE_ENV: 'production',
      PORT: String(port),
      BASE_URL: url,
      DATABASE_URL: database.url,
      ENCRYPTION_KEY: TEST_ENCRYPTION_KEY,
    }).ready();
    return url;
  };
  const ask = async (url: string): Promise<void> => {
    const browser = new BrowserSession(url);
    expect((await browser.submit(await browser.open(PATH), PATH, { email })).status).toBe(200);
  };
  const kill = async (): Promise<void> => {
    service.signal('SIGKILL');
    await service.exit();
  };
  const leases = () =>
    database.query<{ state: string; leased: boolean }>(
      'SELECT state, lease_until > now() AS leased FROM mails',
    );

  it('before the server took it, is sent once by the next one, when the lease has expired', async () => {
    let isKilled = false;
    smtp.onRecipient = async () => {
      if (!isKilled) {
        isKilled = true;
        await kill();
      }
      return undefined;
    };
    await ask(await start());
    await until('it is killed', () => isKilled);
    await service.exit();
    expect(await leases()).toEqual([{ state: 'pending', leased: true }]);
    await database.query('UPDATE mails SET lease_until = now()');
    await start();
    await smtp.mailTo(email);
    await until('it is marked as sent', async () => (await leases())[0]!.state === 'sent');
    expect(smtp.to(email)).toHaveLength(1);
  });

  it('after the server took it and before that was written down, is sent again with the same Message-ID', async () => {
    smtp.onMail = async () => {
      if (smtp.mails.length === 0) await kill();
      return undefined;
    };
    await ask(await start());
    const first = await smtp.mailTo(email);
    expect(await leases()).toEqual([{ state: 'pending', leased: true }]);
    await database.query('UPDATE mails SET lease_until = now()');
    await start();
    const second = await smtp.mailTo(email, 2);
    expect([second.messageId, second.link]).toEqual([first.messageId, first.link]);
    await until('it is marked as sent', async () => (await leases())[0]!.state === 'sent');
  });
});
