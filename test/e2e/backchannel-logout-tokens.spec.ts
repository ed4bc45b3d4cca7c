import { ProviderClients } from '../../src/identity-providers/protocol/provider-clients.service.js';
import { BrokenIdentityProvider } from '../support/broken-identity-provider.js';
import { useBrokenProvider } from '../support/broken-provider.js';
import { useServiceWithProvider } from '../support/set-up.js';

const PATH = '/login/backchannel_logout/company';
const MINUTES = 60;

describe('A logout token', () => {
  const { idp, service } = useBrokenProvider();
  beforeEach(() => {
    idp.faults = {};
  });

  const send = (token: string) => service.http.send(PATH, { form: { logout_token: token } });
  const now = () => Math.floor(Date.now() / 1000);
  /** Reads discovery and keys again at the next token. */
  const forget = (): void => {
    const clients = service.app.get(ProviderClients, { strict: false });
    for (const each of clients.providers) clients.forget(each);
  };

  describe('without exp', () => {
    it.each<[string, Record<string, unknown>]>([
      ['without iat', { iat: undefined }],
      ['with an iat of more than 10 minutes ago', { iat: now() - 11 * MINUTES }],
      ['with an iat to come', { iat: now() + 10 * MINUTES }],
      ['without jti', { jti: undefined }],
    ])('is refused %s', async (_name, claims) => {
      const answer = await send(await idp.logoutToken({ sub: 'ada', exp: undefined, ...claims }));
      expect([answer.status, answer.json.error]).toEqual([400, 'invalid_request']);
    });

    it('is accepted once', async () => {
      const token = await idp.logoutToken({ sub: 'ada', exp: undefined });
      expect((await send(token)).status).toBe(200);
      expect((await send(token)).status).toBe(400);
    });
  });

  describe('signed with a key that is unknown here', () => {
    const byUnknownKey = () => idp.logoutToken({ sub: 'ada' }, { kid: 'unknown' });

    it('is refused if the keys have just been read for it', async () => {
      forget();
      const answer = await send(await byUnknownKey());
      expect([answer.status, answer.json.error]).toEqual([400, 'invalid_request']);
    });

    it('is to be sent again, if the keys may not be read again yet', async () => {
      forget();
      expect((await send(await idp.logoutToken({ sub: 'ada' }))).status).toBe(200);
      const read = () => idp.requests.filter((each) => each === 'GET /jwks').length;
      const before = read();
      const answer = await send(await byUnknownKey());
      expect([answer.status, answer.json.error, answer.headers.get('retry-after')]).toEqual([
        503,
        'temporarily_unavailable',
        '30',
      ]);
      expect(read()).toBe(before);
    });

    it('does not use up its jti until it is accepted', async () => {
      forget();
      expect((await send(await idp.logoutToken({ sub: 'ada' }))).status).toBe(200);
      await idp.rotateKeys();
      const token = await idp.logoutToken({ sub: 'ada' });
      expect((await send(token)).status).toBe(503);
      forget();
      expect((await send(token)).status).toBe(200);
    });
  });

  it.each<[string, string, { status: number; body: string; headers?: Record<string, string> }]>([
    ['cannot be read', '/jwks', { status: 503, body: '{}' }],
    ['are refused for a while', '/jwks', { status: 429, body: '{}' }],
    [
      'are a page of a proxy',
      '/jwks',
      { status: 200, body: '<html>', headers: { 'content-type': 'text/html' } },
    ],
    ['are elsewhere', '/jwks', { status: 302, body: '', headers: { location: 'https://other.example' } }],
  ])('is to be sent again if the keys %s', async (_name, path, answer) => {
    forget();
    idp.faults = { answers: { [path]: answer } };
    const refused = await send(await idp.logoutToken({ sub: 'ada' }));
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '30']);
  });
});

describe('A logout token of a client that is in the settings twice', () => {
  const idp = new BrokenIdentityProvider();
  const staff = { label: 'Example Staff', audience: ['operators'], accounts: 'verified_email' };
  const service = useServiceWithProvider(idp, [{}, { id: 'staff', ...staff }]);

  it('is accepted once, whichever of the two addresses it is sent to', async () => {
    const token = await idp.logoutToken({ sub: 'ada' });
    const answers = [];
    for (const id of ['staff', 'company', 'staff']) {
      const at = `/login/backchannel_logout/${id}`;
      answers.push((await service.http.send(at, { form: { logout_token: token } })).status);
    }
    expect(answers).toEqual([200, 400, 400]);
  });
});
