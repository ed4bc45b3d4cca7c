import { parse } from 'node-html-parser';
import { type Answer, PASSWORD, useService } from '../support/spec.js';

const BASE_URL = 'https://auth.example';

describe('With an https base URL, the service', () => {
  const service = useService({ env: { BASE_URL } });

  const pairOf = (answer: Answer) => answer.headers.getSetCookie()[0]!.split(';')[0]!;

  const logIn = async (origin: string) => {
    const { email } = await service.make.user();
    const page = await service.http.get('/login');
    const token = parse(page.text).querySelector('input[name="csrf_token"]')!.getAttribute('value')!;
    return service.http.send('/login', {
      form: { csrf_token: token, email, password: PASSWORD },
      headers: { cookie: pairOf(page), origin },
    });
  };

  it('refuses a form from the plain address that the service listens on', async () => {
    expect((await logIn(service.url)).status).toBe(403);
    expect((await logIn('http://auth.example')).status).toBe(403);
  });

  it('sets __Host- cookies that are Secure, HttpOnly, SameSite=Lax, Path=/ and without a domain', async () => {
    const [csrf] = (await service.http.get('/login')).headers.getSetCookie();
    const answer = await logIn(BASE_URL);
    const [session, ...others] = answer.headers.getSetCookie();
    expect(answer.status).toBe(303);
    expect(csrf).toMatch(/^__Host-csrf=[^;]+; Path=\/; HttpOnly; Secure; SameSite=Lax$/);
    expect(session).toMatch(
      /^__Host-session=[^;]+; Max-Age=604800; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
    );
    expect(others.find((line) => line.includes('known_browser'))).toMatch(
      /^__Host-known_browser=[^;]+; Max-Age=31536000; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
    );
  });

  it('remembers a language in such a cookie', async () => {
    const cookies = (await service.http.get('/login?ui_locales=nl')).headers.getSetCookie();
    expect(cookies).toContain('__Host-language=nl; Max-Age=31536000; Path=/; HttpOnly; Secure; SameSite=Lax');
    const { text } = await service.http.get('/login', { headers: { cookie: '__Host-language=nl' } });
    expect(text).toContain('<html lang="nl">');
  });

  it('does not accept the session under a cookie name that a neighbouring host could set', async () => {
    const pair = pairOf(await logIn(BASE_URL));
    const formsWith = async (cookie: string) =>
      parse((await service.http.get('/', { headers: { cookie } })).text).querySelectorAll('form').length;
    expect(await formsWith(pair)).toBe(1);
    expect(await formsWith(pair.replace('__Host-', ''))).toBe(0);
  });

  it('sends HSTS with every kind of answer', async () => {
    for (const path of ['/login', '/v2/users', '/nowhere', '/health/live', '/assets/app.css']) {
      const answer = await service.http.get(path);
      expect(answer.headers.get('strict-transport-security')).toMatch(/^max-age=\d{8}/);
    }
  });
});
