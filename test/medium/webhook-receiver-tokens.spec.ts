import { GuardedHttpClient } from '#events/webhooks/http/guarded-http-client.js';
import { ReceiverTokens } from '#events/webhooks/receiver-tokens/receiver-tokens.service.js';
import { HeldTimers } from '../support/held-timers.js';
import { Receiver } from '../support/receiver.js';
import { until } from '../support/until.js';

/* Contract §22: the requests for a token, with sockets. */
describe('A token for a receiver', () => {
  const server = Receiver.setUp((response, { url }) => {
    if (url === '/hangs') return;
    response.end(JSON.stringify({ access_token: 'one', token_type: 'bearer', expires_in: 60 }));
  });
  const client = (path: string) => ({
    endpointId: 'endp01',
    isSandbox: false,
    authentication: {
      type: 'client_credentials',
      token_url: server.url(path),
      client_id: 'a',
      scope: null,
    } as const,
    sealedClientSecret: Buffer.alloc(1),
    clientSecret: 'b',
  });
  const neverSent = () => Promise.reject(new Error('sent'));
  const signal = () => new AbortController().signal;

  it('is not asked for at an address that is not public, whatever was saved', async () => {
    const http = new GuardedHttpClient({ allowPrivateAddresses: false });
    const outcome = await new ReceiverTokens(http).send(client('/token'), signal(), neverSent);
    expect(outcome).toMatchObject({ kind: 'failure', failure: 'token' });
    expect(server.requests).toEqual([]);
    http.destroy();
  });

  it('is waited for 5 s, so that an attempt ends within its lease', async () => {
    const http = new GuardedHttpClient({ allowPrivateAddresses: true });
    const limit = HeldTimers.hold(4_000, 5_000, '/guarded-http-client.');
    const sent = new ReceiverTokens(http).send(client('/hangs'), signal(), neverSent);
    await until('the request has arrived', () => server.requests.some(({ url }) => url === '/hangs'));
    limit.letPass();
    expect(await sent).toMatchObject({
      failure: 'token',
      detail: 'No access token from the token endpoint: there was no response within 5 s.',
    });
    http.destroy();
  });

  it('ends with the service: what waits for it is aborted, and does not count', async () => {
    const http = new GuardedHttpClient({ allowPrivateAddresses: true });
    const stop = new AbortController();
    const before = server.requests.length;
    const tokens = new ReceiverTokens(http);
    const both = [1, 2].map(() => tokens.send(client('/hangs'), stop.signal, neverSent));
    await until('the request has arrived', () => server.requests.length > before);
    stop.abort();
    expect(await Promise.all(both)).toEqual([{ kind: 'aborted' }, { kind: 'aborted' }]);
    expect(server.requests.length).toBe(before + 1);
    http.destroy();
  });

  it('leaves the second request what the first has left of the 15 s', async () => {
    const http = new GuardedHttpClient({ allowPrivateAddresses: true });
    const given: (number | undefined)[] = [];
    await new ReceiverTokens(http).send(client('/token'), signal(), (_headers, timeoutMs) => {
      given.push(timeoutMs);
      return Promise.resolve({
        kind: 'response',
        status: 401,
        durationMs: 14_000,
        headers: [],
        bodyStart: '',
      });
    });
    expect(given).toEqual([undefined, 1_000]);
    http.destroy();
  });
});
