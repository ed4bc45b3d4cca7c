import { putClockForward } from '../support/clock.js';
import { type Answer, useService } from '../support/spec.js';
import {
  expectPlainRefusal,
  from,
  limitHeaders,
  newAddress,
  retryAfterOf,
  statusesOf,
} from '../support/rate-limits.js';
import { strangeToken } from '../support/tokens.js';

const ADDRESS_LIMIT = 20;
const OAUTH_RATE_LIMIT_PER_MINUTE = String(ADDRESS_LIMIT / 10);

describe('The limit of an address for requests without a valid token', () => {
  const service = useService({ env: { OAUTH_RATE_LIMIT_PER_MINUTE, TRUSTED_PROXIES: '127.0.0.1' } });

  const garbage =
    (address: string, bearer: string | undefined = 'garbage') =>
    (): Promise<Answer> =>
      from(service.http, address)('/v2/users', { bearer });
  const exhaust = async (address: string): Promise<Answer> => {
    expect(await statusesOf(ADDRESS_LIMIT, garbage(address))).toEqual(Array(ADDRESS_LIMIT).fill(401));
    return garbage(address)();
  };

  it('refuses with a problem that says when to try again, and creates no notification', async () => {
    expectPlainRefusal(await exhaust(newAddress()), service.settings.baseUrl, 60);
    expect(await service.database.query('SELECT 1 FROM notifications')).toEqual([]);
  });

  it('counts missing, malformed, unknown and revoked tokens, also in the query string, at all endpoints together', async () => {
    const client = await service.make.client();
    const revoked = await service.make.clientToken(client);
    await service.http.send('/o/revoke_token/', {
      form: { token: revoked, client_id: client.id, client_secret: client.secret },
    });
    const address = newAddress();
    const send = from(service.http, address);
    for (let round = 0; round < ADDRESS_LIMIT / 5; round++) {
      const answers = [
        await send('/v2/users', {}),
        await send('/notifications', { bearer: 'x' }),
        await send('/webhook_portal', { bearer: strangeToken('access') }),
        await send('/v2/users/x', { bearer: revoked }),
        await send('/v2/users?access_token=x'),
      ];
      expect(answers.map(({ status }) => status)).toEqual(Array(5).fill(401));
    }
    expect((await send('/notifications')).status).toBe(429);
  });

  it('ends when Retry-After says, not earlier', async () => {
    const address = newAddress();
    const seconds = retryAfterOf(await exhaust(address));
    expect(seconds).toBeGreaterThan(30);
    putClockForward(seconds - 20);
    expect((await garbage(address)()).status).toBe(429);
    putClockForward(20);
    expect((await garbage(address)()).status).toBe(401);
  });

  it('does not count requests with a valid token, which count for their client, but refuses them once it is used up', async () => {
    const bearer = await service.make.clientToken(await service.make.client());
    const address = newAddress();
    const send = from(service.http, address);
    expect(await statusesOf(ADDRESS_LIMIT + 5, () => send('/v2/users', { bearer }))).toEqual(
      Array(ADDRESS_LIMIT + 5).fill(200),
    );
    expect((await exhaust(address)).status).toBe(429);
    expectPlainRefusal(await send('/v2/users', { bearer }), service.settings.baseUrl, 60);
    const elsewhere = await from(service.http, newAddress())('/v2/users', { bearer });
    expect(limitHeaders(elsewhere)).toEqual([1000, 1000 - ADDRESS_LIMIT - 6]);
  });

  it('does not affect other addresses or clients that call from them', async () => {
    const bearer = await service.make.clientToken(await service.make.client());
    await exhaust(newAddress());
    expect((await garbage(newAddress())()).status).toBe(401);
    expect((await from(service.http, newAddress())('/v2/users', { bearer })).status).toBe(200);
  });

  describe('treats as one address', () => {
    // test/unit/forwarded-address.spec.ts has every way to write an address.
    it.each([
      ['IPv4 inside IPv6, in brackets and with a port', '[::ffff:203.0.113.7]:443', '203.0.113.7:4711'],
      ['another host of the same IPv6 network', '2001:db8:0:2::1', '2001:db8:0:2:ffff:ffff:ffff:ffff'],
    ])('%s', async (_what, address, other) => {
      expect((await exhaust(address)).status).toBe(429);
      expect((await garbage(other)()).status).toBe(429);
    });

    it('only addresses of the same IPv6 network, not of a neighbouring one', async () => {
      await exhaust('2001:db8:0:3::1');
      expect((await garbage('2001:db8:0:4::1')()).status).toBe(401);
    });
  });

  describe('accepts in X-Forwarded-For', () => {
    it('no malformed address: it counts for the proxy that sent it, and for no client address', async () => {
      const written = ['unknown', '_hidden', '1.2.3.4.5', '', `${newAddress()}, -`];
      let n = 0;
      const next = (): Promise<Answer> => garbage(written[n++ % written.length]!)();
      expect(await statusesOf(ADDRESS_LIMIT, next)).toEqual(Array(ADDRESS_LIMIT).fill(401));
      expect((await next()).status).toBe(429);
      expect((await garbage('something else')()).status).toBe(429);
      expect((await garbage(newAddress())()).status).toBe(401);
      putClockForward(60);
    });

    it('only what the trusted proxy added, not what precedes it', async () => {
      const address = newAddress();
      for (let n = 0; n < ADDRESS_LIMIT; n++)
        expect((await garbage(`${newAddress()}, ${address}`)()).status).toBe(401);
      expect((await garbage(`${newAddress()}, ${address}`)()).status).toBe(429);
      expect((await garbage(`${address}, ${newAddress()}`)()).status).toBe(401);
    });

    it('nothing that could collide with the counter of a client, a user or a sign-in', async () => {
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
        await statusesOf(2, garbage(forged));
      }
      const answer = await service.http.get('/v2/users', { bearer });
      expect([answer.status, ...limitHeaders(answer)]).toEqual([200, 1000, 999]);
      expect((await garbage('203.0.113.9')()).status).toBe(401);
      // This is the second and last request of its minute: the limit was not used up.
      await service.make.clientToken(client);
    });
  });
});
