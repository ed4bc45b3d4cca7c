import passport from 'passport';
import { BasicStrategy } from 'passport-http';
import { Strategy as HttpBearerStrategy } from 'passport-http-bearer';
import { BearerStrategy } from '#access/tokens/access/bearer.guard.js';
import { ClientBasicStrategy } from '#entrypoints/oauth/clients/client-basic.strategy.js';
import { type Answer, type HttpOptions, madeOnce, type TestClient } from '../support/spec.js';
import { sharedService, type TestService, useSharedService } from '../support/test-service.js';

const GRANT = { grant_type: 'client_credentials' };

/** An application with a client and a token that only it knows. */
interface Application {
  service: TestService;
  client: TestClient;
  bearer: string;
}

describe('Two applications in one process', () => {
  let applications: Application[];

  beforeAll(async () => {
    applications = [await use(await sharedService()), await use(await sharedService({ instances: 2 }))];
  });

  const use = async (service: TestService): Promise<Application> => {
    const client = await service.make.client();
    return { service, client, bearer: await service.make.clientToken(client) };
  };
  const read = ({ service }: Application, { bearer }: Application): Promise<Answer> =>
    service.http.get('/v2/users', { bearer });
  const issue = ({ service }: Application, { client }: Application): Promise<Answer> =>
    service.http.send('/o/token', { form: GRANT, basic: client });

  it("accept their own tokens and clients, and refuse each other's", async () => {
    for (const mine of applications) {
      const other = applications.find((each) => each !== mine)!;
      expect((await read(mine, other)).status).toBe(401);
      expect((await issue(mine, other)).status).toBe(401);
      expect((await read(mine, mine)).status).toBe(200);
      expect((await issue(mine, mine)).status).toBe(200);
    }
  });

  it('keep their requests apart even with hundreds in progress in both', async () => {
    const requests = Array.from({ length: 200 }, async (_, n) => {
      const [mine, theirs] = [applications[n % 2]!, applications[Math.floor(n / 2) % 2]!];
      const { status } = await (n % 8 < 4 ? read : issue)(mine, theirs);
      return { status, expected: mine === theirs ? 200 : 401 };
    });
    expect((await Promise.all(requests)).filter(({ status, expected }) => status !== expected)).toEqual([]);
  });

  it("leave nothing in Passport's registry, which is global to the process", () => {
    const registry = passport as unknown as { _strategy(name: string): unknown };
    expect(['bearer', 'basic'].map((name) => registry._strategy(name))).toEqual([undefined, undefined]);
  });

  it('ask the strategies of passport-http-bearer and passport-http for each request', async () => {
    const [own] = applications as [Application];
    const asked = [HttpBearerStrategy, BasicStrategy].map(({ prototype }) =>
      jest.spyOn(prototype, 'authenticate'),
    );
    const counts = () => asked.map(({ mock }) => mock.calls.length);
    await read(own, own);
    expect(counts()).toEqual([1, 0]);
    await issue(own, own);
    expect(counts()).toEqual([1, 1]);
    for (const each of asked) each.mockRestore();
  });

  it('leave no request data on the strategies, which all requests share', () => {
    for (const { service } of applications) {
      for (const strategy of [service.app.get(BearerStrategy), service.app.get(ClientBasicStrategy)])
        expect(Object.keys(strategy)).not.toEqual(expect.arrayContaining(['success']));
    }
  });
});

describe('The credentials of a request', () => {
  const service = useSharedService();
  let bearer: string;

  const client = madeOnce(() => service.make.client());
  beforeAll(async () => (bearer = await service.make.clientToken(client)));

  const mark = (options: HttpOptions): Promise<Answer> =>
    service.http.send('/notifications/notf01HN2NJ9NMRZBXT1H6FT9N7735', { method: 'PATCH', ...options });

  it('are never read from the body', async () => {
    expect((await mark({ json: { access_token: bearer } })).status).toBe(401);
    // A form is none of the bodies of this route, whoever sends it.
    expect((await mark({ form: { access_token: bearer } })).status).toBe(415);
    // The notification is unknown, but the token was accepted.
    expect((await mark({ bearer, json: { read: true } })).status).toBe(404);
    const doubled = await mark({ bearer, json: { access_token: bearer } });
    expect([doubled.status, Object.keys(doubled.json.field_errors as object)]).toEqual([
      400,
      ['access_token'],
    ]);
  });

  it.each([
    ['no header', undefined],
    ['another scheme', 'Basic YTpi'],
    ['the scheme alone', 'Bearer'],
    ['a scheme with the same beginning', 'Bearers x'],
  ])('are reported as missing rather than wrong if no bearer token was sent: %s', async (_what, header) => {
    const answer = await service.http.get('/v2/users', { headers: header ? { authorization: header } : {} });
    expect(answer.status).toBe(401);
    // RFC 6750 §3.1: in this case the challenge SHOULD NOT include an error code.
    expect(answer.headers.get('www-authenticate')).toBe(
      'Bearer realm="Charging Data Service", DPoP algs="PS256 ES256 EdDSA"',
    );
  });

  it.each([
    ['several spaces after the scheme', (token: string) => `Bearer   ${token}`, 200],
    ['the scheme in another letter case', (token: string) => `bEARER ${token}`, 200],
    ['two tokens', (token: string) => `Bearer ${token} ${token}`, 401],
    ['a tab instead of the space', (token: string) => `Bearer\t${token}`, 401],
    ['something after the token', (token: string) => `Bearer ${token},`, 401],
    ['something before the scheme', (token: string) => `X Bearer ${token}`, 401],
  ])('are parsed strictly in an Authorization header with %s', async (_what, header, status) => {
    const answer = await service.http.get('/v2/users', { headers: { authorization: header(bearer) } });
    expect(answer.status).toBe(status);
  });
});
