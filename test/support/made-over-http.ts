import { BrowserSession } from './browser-session.js';
import { PARTNER_SCOPES, PASSWORD, REDIRECT_URI, type TestClient, type Tokens } from './factory.js';
import type { Http } from './http.js';
import type { Senders } from './load.js';
import { done, exchange } from './oauth.js';

/** The clients that send the load (`makeSenders`), with so many token families, made by the admin API and the pages, whatever build serves them. */
export async function makeSendersOverHttp(
  http: Http,
  operator: { id: string; secret: string },
  numberOfFamilies = 3,
): Promise<Senders> {
  const post = async (path: string, json: Record<string, unknown>) => {
    const bearer = await tokenOf(http, operator);
    return done(await http.send(path, { method: 'POST', bearer, json })).json as Record<string, string>;
  };
  const newUser = (name: string, more: Record<string, unknown>) =>
    post('/admin/users', { email: `${name}@mail.example`, name, ...more });
  const newClient = async (input: Record<string, unknown>): Promise<TestClient> => {
    const { client_id: id, client_secret: secret } = await post('/admin/clients', {
      name: 'A client',
      type: 'confidential',
      redirect_uris: [],
      grant_types: ['client_credentials'],
      ...input,
    });
    return { id, secret } as TestClient;
  };
  const { id: owner_id } = await newUser('organisation', { kind: 'organisation' });
  const client = await newClient({
    owner_id,
    scopes: PARTNER_SCOPES,
    redirect_uris: [REDIRECT_URI],
    grant_types: ['authorization_code', 'client_credentials'],
  });
  const introspecting = await newClient({ owner_id, scopes: ['token:introspect'], company_service: true });
  const families: Tokens[] = [];
  for (let n = 0; n < numberOfFamilies; n++) {
    const { email } = await newUser(`driver${n}`, { password: PASSWORD });
    const browser = new BrowserSession(http.url);
    await browser.logIn(email!, PASSWORD);
    const location = await browser.authorize({
      response_type: 'code',
      client_id: client.id,
      redirect_uri: REDIRECT_URI,
    });
    families.push(done(await exchange(http, client, location.searchParams.get('code')!)).json as Tokens);
  }
  return { client, introspecting, families, bearer: await tokenOf(http, client) };
}

async function tokenOf(http: Http, client: { id: string; secret: string }): Promise<string> {
  const answer = await http.token(
    { grant_type: 'client_credentials' },
    { id: client.id, secret: client.secret },
  );
  return done(answer).json.access_token as string;
}
