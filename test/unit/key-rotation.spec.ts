import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Settings } from '#platform/config/settings.js';
import { Form } from '#platform/http/forms/form.js';
import { CsrfService } from '#platform/http/forms/csrf.service.js';
import { Cookies } from '#platform/http/server/cookies.js';
import type { UserEntity } from '#access/users/accounts/user.entity.js';
import type { UsersRepository } from '#access/users/accounts/users.repository.js';
import { KnownBrowsersService } from '#access/users/sessions/known-browsers.service.js';

const [OLD, NEW] = [Buffer.alloc(32, 'k'), Buffer.alloc(32, 'n')];

const settingsWith = (...encryptionKeys: Buffer[]) =>
  ({ encryptionKeys, baseUrl: 'https://a.example', secure: false }) as Settings;

/** A browser, and the reply that gives it cookies. */
class Browser {
  readonly cookies: Record<string, string> = {};
  readonly request = { cookies: this.cookies, headers: {} } as unknown as FastifyRequest;
  readonly reply = {
    setCookie: (name: string, value: string) => (this.cookies[name] = value),
  } as unknown as FastifyReply;
}

describe('After a change of the encryption key, while the previous one is still configured,', () => {
  it('a form that is open can be posted; without the previous key it has expired', () => {
    const csrf = (...keys: Buffer[]) => new CsrfService(new Cookies(settingsWith()), settingsWith(...keys));
    const { request, reply } = new Browser();
    const token = csrf(OLD).tokenFor(request, reply, 'a form');
    const post = (...keys: Buffer[]) =>
      csrf(...keys).check(request, Form.parse(`csrf_token=${token}`), 'a form');
    expect(() => post(NEW, OLD)).not.toThrow();
    expect(() => post(NEW)).toThrow();
  });

  it('a browser is still known, and the next login marks it with the new key', () => {
    const browsers = (...keys: Buffer[]) =>
      new KnownBrowsersService(new Cookies(settingsWith()), {} as UsersRepository, settingsWith(...keys));
    const user = { email: 'a@mail.example', passwordHash: 'a hash' } as UserEntity;
    const { request, reply, cookies } = new Browser();
    browsers(OLD).remember(request, reply, user);
    expect(browsers(NEW, OLD).knows(request, user)).toBe(true);
    expect(browsers(NEW).knows(request, user)).toBe(false);
    browsers(NEW, OLD).remember(request, reply, user);
    expect(browsers(NEW).knows(request, user)).toBe(true);
    const mark = cookies.cds_known_browser;
    browsers(NEW, OLD).remember(request, reply, user);
    expect(cookies.cds_known_browser).toBe(mark);
  });
});
