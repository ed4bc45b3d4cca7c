import { BrowserSession, csrfTokenOn, useServiceWithMail } from '../support/spec.js';
import { newAddress } from '../support/rate-limits.js';

describe('While Redis is down, each instance', () => {
  // Nothing listens there.
  const REDIS_URL = 'redis://127.0.0.1:9';
  const { service, smtp } = useServiceWithMail({
    env: { SIGN_UP: 'true', TRUSTED_PROXIES: '127.0.0.1', REDIS_URL },
    instances: 2,
  });

  /** Asks one instance for a mail, from a network of its own. */
  const ask = async (path: string, email: string, n: number): Promise<number> => {
    const address = { 'x-forwarded-for': newAddress(), origin: service.url };
    const browser = new BrowserSession(service.instances[n]!.url, address);
    const csrf_token = csrfTokenOn(await browser.open(path));
    return (await browser.open(path, { form: { csrf_token, email }, headers: address })).status;
  };

  it.each(['/password/forgotten', '/sign-up'])(
    'mails at most five links an hour to one address, with the same answer beyond that: %s',
    async (path) => {
      const { email } = await service.make.user();
      const statuses = [];
      for (const n of [0, 1]) {
        for (let tries = 0; tries < 7; tries++) statuses.push(await ask(path, email, n));
      }
      expect(new Set(statuses)).toEqual(new Set([200]));
      await smtp.mailTo(email, 10);
      // A mail for another user, asked for later of each instance, has arrived: nothing more is on its way.
      const other = await service.make.user();
      for (const n of [0, 1]) await ask(path, other.email, n);
      await smtp.mailTo(other.email, 2);
      expect(await service.database.query('SELECT 1 FROM mails WHERE address = $1', [email])).toHaveLength(
        10,
      );
    },
  );
});
