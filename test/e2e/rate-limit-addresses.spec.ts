import { newSecret } from '../../src/secrets/tokens.js';
import { putClockForward } from '../support/clock.js';
import type { Answer } from '../support/http.js';
import {
  expectPlainRefusal,
  from,
  limitHeaders,
  newAddress,
  retryAfterOf,
  statusesOf,
} from '../support/rate-limits.js';
import { startService, type TestService } from '../support/test-service.js';

const ADDRESS_LIMIT = 20;
const OAUTH_RATE_LIMIT_PER_MINUTE = String(ADDRESS_LIMIT / 10);

describe('the limit of an address for requests without a valid token', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService({ env: { OAUTH_RATE_LIMIT_PER_MINUTE, TRUSTED_PROXIES: '127.0.0.1' } });
  });
  afterAll(() => service.stop());

  const garbage =
    (address: string, bearer: string | undefined = 'garbage') =>
    (): Promise<Answer> =>
      from(service.http, address)('/v2/users', { bearer });
  const exhaust = async (address: string): Promise<Answer> => {
    expect(await statusesOf(ADDRESS_LIMIT, garbage(address))).toEqual(Array(ADDRESS_LIMIT).fill(401));
    return garbage(address)();
  };

  it('refuses with a problem that says when, and tells nobody', async () => {
    expectPlainRefusal(await exhaust(newAddress()), service.settings.baseUrl, 60);
    expect(await service.database.query('SELECT 1 FROM notifications')).toEqual([]);
  });

  it('counts no token, garbage, unknown and revoked ones, in the query string too, on every endpoint alike', async () => {
    const client = await service.make.client();
    const revoked = await service.make.clientToken(client);
    await service.database.query('UPDATE access_tokens SET revoked_at = now() WHERE client_id = $1', [
      client.id,
    ]);
    const address = newAddress();
    const send = from(service.http, address);
    for (let round = 0; round < ADDRESS_LIMIT / 5; round++) {
      const answers = [
        await send('/v2/users', {}),
        await send('/notifications', { bearer: 'x' }),
        await send('/webhook_portal', { bearer: newSecret('accessToken') }),
        await send('/v2/users/x', { bearer: revoked }),
        await send('/v2/users?access_token=x'),
      ];
      expect(answers.map(({ status }) => status)).toEqual(Array(5).fill(401));
    }
    expect((await send('/notifications')).status).toBe(429);
  });

  it('lets go after as long as Retry-After says, and not before', async () => {
    const address = newAddress();
    const seconds = retryAfterOf(await exhaust(address));
    expect(seconds).toBeGreaterThan(30);
    putClockForward(seconds - 20);
    expect((await garbage(address)()).status).toBe(429);
    putClockForward(20);
    expect((await garbage(address)()).status).toBe(401);
  });

  it('neither counts nor holds up requests with a valid token, which count for their client alone', async () => {
    const bearer = await service.make.clientToken(await service.make.client());
    const address = newAddress();
    const send = from(service.http, address);
    expect(await statusesOf(ADDRESS_LIMIT + 5, () => send('/v2/users', { bearer }))).toEqual(
      Array(ADDRESS_LIMIT + 5).fill(200),
    );
    expect((await exhaust(address)).status).toBe(429);
    expect((await send('/v2/users', { bearer })).status).toBe(200);
  });

  it('leaves other addresses, and clients who call from them, alone', async () => {
    const bearer = await service.make.clientToken(await service.make.client());
    await exhaust(newAddress());
    expect((await garbage(newAddress())()).status).toBe(401);
    expect((await from(service.http, newAddress())('/v2/users', { bearer })).status).toBe(200);
  });

  describe('knows one address by another name:', () => {
    it.each([
      ['IPv4 inside IPv6', '::ffff:203.0.113.7', '203.0.113.7'],
      ['IPv6 written out', '2001:db8:0:1::1', '2001:0DB8:0000:0001:0000:0000:0000:0001'],
      ['another host of the same IPv6 network', '2001:db8:0:2::1', '2001:db8:0:2:ffff:ffff:ffff:ffff'],
    ])('%s', async (_what, address, other) => {
      expect((await exhaust(address)).status).toBe(429);
      expect((await garbage(other)()).status).toBe(429);
    });

    it('but not a neighbouring IPv6 network', async () => {
      await exhaust('2001:db8:0:3::1');
      expect((await garbage('2001:db8:0:4::1')()).status).toBe(401);
    });
  });

  describe('believes of X-Forwarded-For', () => {
    it('what the trusted proxy wrote, not what came before it', async () => {
      const address = newAddress();
      for (let n = 0; n < ADDRESS_LIMIT; n++) {
        expect((await garbage(`${newAddress()}, ${address}`)()).status).toBe(401);
      }
      expect((await garbage(`${newAddress()}, ${address}`)()).status).toBe(429);
      expect((await garbage(`${address}, ${newAddress()}`)()).status).toBe(401);
    });

    it('nothing that collides with the count of a client, a user or a sign-in', async () => {
      const client = await service.make.client();
      const bearer = await service.make.clientToken(client);
      for (const forged of [
        `partner:${client.id}:`,
        `client:${client.id}`,
        `address:203.0.113.9`,
        `["${client.id}",null]`,
        '__proto__',
        'x'.repeat(5000),
      ]) {
        await statusesOf(5, garbage(forged));
      }
      const answer = await service.http.get('/v2/users', { bearer });
      expect([answer.status, ...limitHeaders(answer)]).toEqual([200, 1000, 999]);
      expect((await garbage('203.0.113.9')()).status).toBe(401);
      // The second and last of its minute: nobody has used one up.
      await service.make.clientToken(client);
    });
  });
});

describe('without trusted proxies', () => {
  let service: TestService;
  beforeAll(async () => (service = await startService({ env: { OAUTH_RATE_LIMIT_PER_MINUTE } })));
  afterAll(() => service.stop());

  it('a forged X-Forwarded-For or Forwarded has no effect', async () => {
    const garbage = (): Promise<Answer> => {
      const address = newAddress();
      return service.http.get('/v2/users', {
        bearer: 'garbage',
        headers: {
          'x-forwarded-for': address,
          'x-real-ip': address,
          'x-client-ip': address,
          'cf-connecting-ip': address,
          forwarded: `for=${address}`,
        },
      });
    };
    expect(await statusesOf(ADDRESS_LIMIT, garbage)).toEqual(Array(ADDRESS_LIMIT).fill(401));
    expect((await garbage()).status).toBe(429);
  });
});
