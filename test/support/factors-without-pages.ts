import { visitorOf } from '#platform/http/server/request-origin.js';
import { AuthenticatorAppsService } from '#access/users/factors/authenticator-apps.service.js';
import { newTotpSecret } from '#access/users/factors/one-time-passwords.js';
import { PasskeysService } from '#access/users/factors/passkeys.service.js';
import { SessionsService } from '#access/users/sessions/sessions.service.js';
import type { BrowserSession } from './browser-session.js';
import { codeOf, stepNow } from './second-factors.js';
import { SoftwarePasskey } from './software-passkey.js';
import type { TestInstance } from './test-service.js';
import { exchangeOf, type WithApp } from './without-pages.js';

/** Who is signed in in this browser, and a request of theirs. */
async function requestOf({ app }: WithApp, browser: BrowserSession, path: string) {
  const exchange = exchangeOf(browser, path);
  const user = await app.get(SessionsService).current(exchange.request);
  if (!user) throw new Error('nobody is signed in');
  const { id, sessionDigest } = user;
  return { ...exchange, user, actor: { ...visitorOf(exchange.request), id, sessionDigest } };
}

/** Sets up an authenticator app as the form of the account page does; see `addApp`. */
export async function setUpApp(
  instance: WithApp,
  browser: BrowserSession,
  steps = -1,
): Promise<{ secret: string; code: string; codes: string[] }> {
  const { user, actor } = await requestOf(instance, browser, '/account/security/app/new');
  const secret = newTotpSecret();
  for (;;) {
    const step = stepNow();
    const code = codeOf(secret, steps);
    const added = await instance.app.get(AuthenticatorAppsService).confirm(user, secret, code, actor);
    if (added) return { secret, code, codes: added.recoveryCodes ?? [] };
    // The code of the step before is too old if another step began before it was checked.
    if (stepNow() === step) throw new Error('no app');
  }
}

/** Adds a passkey as the form of the account page does; see `addPasskey`. */
export async function setUpPasskey(
  instance: Pick<TestInstance, 'app' | 'url'>,
  browser: BrowserSession,
  { counts = false, name = 'My key' } = {},
): Promise<SoftwarePasskey> {
  const path = '/account/security/passkeys/new';
  const passkeys = instance.app.get(PasskeysService);
  const asking = await requestOf(instance, browser, path);
  const passkey = new SoftwarePasskey(instance.url, counts);
  const answer = passkey.create(await passkeys.creationOptions(asking.user, asking.reply));
  const { user, request, reply, actor } = await requestOf(instance, browser, path);
  if (!(await passkeys.add(user, answer, name, request, reply, actor))) throw new Error('no passkey');
  return passkey;
}
