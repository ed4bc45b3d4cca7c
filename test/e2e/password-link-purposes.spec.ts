import { BrowserSession, useSharedServiceWithMail } from '../support/spec.js';
import { newAddress } from '../support/rate-limits.js';

describe('The page of a link to set a password says', () => {
  const { service, smtp } = useSharedServiceWithMail();

  const newBrowser = (): BrowserSession =>
    new BrowserSession(service.url, { 'x-forwarded-for': newAddress() });
  const linkOfOperator = async (userId: string): Promise<string> => {
    const made = await service.http.send(`/admin/users/${userId}/password_links`, {
      method: 'POST',
      headers: { authorization: `Bearer ${await service.make.adminToken()}` },
    });
    return new URL((made.json as { url: string }).url).pathname;
  };
  const linkMailed = async (path: string, email: string): Promise<string> => {
    const browser = newBrowser();
    await browser.submit(await browser.open(path), path, { email });
    return new URL((await smtp.mailTo(email)).link).pathname;
  };
  const shown = async (link: string): Promise<{ heading: string; text: string }> => {
    const { html } = await newBrowser().open(link);
    const text = html.querySelector('main')!.text.replace(/\s+/g, ' ');
    return { heading: html.querySelector('h1')!.text, text };
  };

  it('that an operator made it for the first password of an account', async () => {
    const user = await service.make.user({ password: undefined });
    const page = await shown(await linkOfOperator(user.id));
    expect(page.heading).toBe('Choose your password');
    expect(page.text).toContain('Your account was made for you.');
    expect(page.text).not.toContain('logs you out');
  });

  it('that an operator made it for another password', async () => {
    const page = await shown(await linkOfOperator((await service.make.user()).id));
    expect(page.heading).toBe('Set a new password');
    expect(page.text).toContain('An operator of this service made this link');
    expect(page.text).toContain('logs you out everywhere else');
  });

  it('that it is for a forgotten password', async () => {
    const user = await service.make.user();
    const page = await shown(await linkMailed('/password/forgotten', user.email));
    expect(page.heading).toBe('Set a new password');
    expect(page.text).toContain('in place of the one you forgot');
  });

  it('that the account exists already, and leads to the login', async () => {
    const link = await linkMailed('/sign-up', (await service.make.user()).email);
    expect((await shown(link)).text).toContain('You already have an account with this email address.');
    const { html } = await newBrowser().open(link);
    expect(html.querySelectorAll('main a').map((each) => each.getAttribute('href'))).toContain('/login');
  });
});
