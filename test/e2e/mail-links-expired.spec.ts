import { Transactions } from '#platform/database/queries/transactions.js';
import { MailsService } from '#records/mail/mails.service.js';
import { MailLimitsService } from '#access/rate-limits/sign-in/mail-limits.service.js';
import { BrowserSession, until, useServiceWithMail } from '../support/spec.js';
import { MailServer } from '../support/mail-server.js';

describe('Mail', () => {
  const connections = new Set<string>();
  const { service, smtp: server } = useServiceWithMail(
    { env: { MAILS_PER_NETWORK_ADDRESS: '3', SIGN_UP: 'true' } },
    new MailServer({
      onConnect: (session, done) => {
        connections.add(session.id);
        done();
      },
    }),
  );
  let counter = 0;

  const newAddress = () => `driver${++counter}@mail.example`;
  const queue = (address: string, usefulSeconds?: number): Promise<void> =>
    service.app.get(Transactions).run(() =>
      service.app.get(MailsService).queue({
        kind: 'sign_up',
        address,
        usefulSeconds,
        cause: `test ${address}`,
        mail: { subject: 'A subject', paragraphs: ['A text'], footer: [] },
      }),
    );
  const metric = async (reason: string): Promise<number> => {
    const { text } = await service.http.get('/metrics');
    return Number(new RegExp(`^mails_withheld_total{reason="${reason}"} (\\d+)$`, 'm').exec(text)?.[1] ?? 0);
  };
  const row = async (email: string) =>
    (
      await service.database.query<{ state: string; last_error: string | null }>(
        'SELECT state, last_error FROM mails WHERE address = $1',
        [email],
      )
    )[0];

  it('is not sent once its link has expired: it has failed, says why, and is counted', async () => {
    const before = await metric('expired');
    const email = newAddress();
    server.onRecipient = () => ({ code: 451, text: 'later' });
    await queue(email, 3600);
    await until(
      'it waits for its next attempt',
      async () => typeof (await row(email))?.last_error === 'string',
    );
    server.onRecipient = () => undefined;
    await service.database.query(
      "UPDATE mails SET useful_until = now() - interval '1 second', next_attempt_at = now() WHERE address = $1",
      [email],
    );
    await until('it has failed', async () => (await row(email))?.state === 'failed');
    expect(await row(email)).toEqual({
      state: 'failed',
      last_error: 'its link had expired before it could be sent',
    });
    expect(server.to(email)).toEqual([]);
    expect(await metric('expired')).toBe(before + 1);
  });

  it('says how long its link works, and is sent until then', async () => {
    const email = newAddress();
    const browser = new BrowserSession(service.url);
    expect((await browser.submit(await browser.open('/sign-up'), '/sign-up', { email })).status).toBe(200);
    await server.mailTo(email);
    const [{ seconds }] = (await service.database.query<{ seconds: number }>(
      'SELECT extract(epoch FROM useful_until - created_at)::int AS seconds FROM mails WHERE address = $1',
      [email],
    )) as [{ seconds: number }];
    expect(seconds).toBe(86_400);
  });

  it('beyond the limit of a network address, which is a setting, is not sent, and is counted', async () => {
    const limits = service.app.get(MailLimitsService);
    const before = await metric('limit_of_network');
    const answers = [];
    for (let n = 0; n < 5; n++) answers.push(await limits.admit(newAddress(), '198.51.100.7'));
    expect(answers).toEqual([true, true, true, false, false]);
    expect(await metric('limit_of_network')).toBe(before + 2);
  });

  it('beyond the limit of the address it goes to is counted too', async () => {
    const limits = service.app.get(MailLimitsService);
    const before = await metric('limit_of_address');
    const email = newAddress();
    for (let n = 0; n < 7; n++) await limits.admitTo(email);
    expect(await metric('limit_of_address')).toBe(before + 2);
    const refusal = await limits.admitOfPartner(email, 'user01HN2NJ9NMRZBXT1H6FT9N7735', undefined);
    expect(refusal?.reason).toContain('too many mails were sent to this address');
    expect(await metric('limit_of_address')).toBe(before + 3);
  });

  it('goes out over connections that are kept, not over one for each mail', async () => {
    const before = connections.size;
    for (let n = 0; n < 10; n++) {
      const email = newAddress();
      await queue(email);
      await server.mailTo(email);
    }
    expect(connections.size - before).toBeLessThanOrEqual(2);
  });
});
