import { SERVICE_ACTOR } from '#records/audit/audit.service.js';
import { PasswordLinksService } from '#access/users/passwords/password-links.service.js';
import { BrowserSession, madeOnce, type Page, useSharedService } from '../support/spec.js';
import { API_WORDS, expectPlainErrors } from '../support/plain-words.js';
import { enterPortal, makeEndpoint } from '../support/portal.js';

type Fields = Record<string, string | string[] | undefined>;

describe('Errors of forms are in plain words', () => {
  const service = useSharedService({ env: { WEBHOOK_ALLOW_PRIVATE_ADDRESSES: 'true' } });

  const user = madeOnce(() => service.make.user());
  const client = madeOnce(() => service.make.client());
  const portal = madeOnce(() => enterPortal(service, client));
  const endpoint = madeOnce(() => makeEndpoint(service, client));
  const account = madeOnce(() => service.make.signedIn(user));

  const expectPlainAlert = (page: Page): void => {
    const { text } = page.html.querySelector('[role="alert"]')!;
    expect(text).toMatch(/\p{Lu}.*[^.]\.\s*$/su);
    expect(text).not.toMatch(API_WORDS);
  };

  const WRONG: [path: string, fields: Fields, errors: string[]][] = [
    [
      '/portal/endpoints/new',
      { url: '', description: 'x'.repeat(201), event_types: undefined },
      ['url', 'description', 'event-types'],
    ],
    ['/portal/endpoints/new', { url: 'http://a b', event_types: 'nothing' }, ['url', 'event-types']],
    [
      '/portal/endpoints/:endpoint/edit',
      { url: 'ftp://x', event_types: ['nothing.happened'] },
      ['url', 'event-types'],
    ],
    ['/portal/endpoints/:endpoint/test', { type: 'nothing.happened' }, ['event-type']],
    ['/portal/verify', { endpoint: 'nothing' }, ['endpoint']],
  ];

  it.each(WRONG)('in the portal: %s %j', async (path, fields, errors) => {
    const at = path.replace(':endpoint', endpoint.id);
    const page = await portal.open(at);
    const action = page.html
      .querySelectorAll('main form')
      .map((form) => form.getAttribute('action')!)
      .find((each) => each.startsWith(at))!;
    expectPlainErrors(await portal.submit(page, action, fields), errors);
  });

  it.each([
    [{ current_password: '', password: '', password_again: '' }, ['current-password', 'new-password']],
    [
      { current_password: 'wrong horse battery', password: 'short', password_again: 'other' },
      ['new-password'],
    ],
  ])('in the account: %j', async (fields, errors) => {
    expectPlainErrors(await account.fillIn('/account/password', fields), errors);
  });

  it('where a password is set', async () => {
    const link = await service.app.get(PasswordLinksService).create(user.id, SERVICE_ACTOR);
    const path = new URL(link).pathname;
    const browser = new BrowserSession(service.url);
    const fields = { password: 'short', password_again: 'other' };
    const page = await browser.fillIn(path, fields);
    expect(page.status).toBe(400);
    expectPlainAlert(page);
  });

  it('at the login', async () => {
    const browser = new BrowserSession(service.url);
    const fields = { email: 'nobody', password: '' };
    expectPlainAlert(await browser.fillIn('/login', fields));
  });

  it.each([
    ['/portal/deliveries?from=yesterday&state=lost&to=2026-13-01T00:00', ['from', 'to', 'state']],
    ['/portal/endpoints/:endpoint/recover?from=yesterday&to=', ['from', 'to']],
  ])('in a filter of the portal: %s', async (path, errors) => {
    expectPlainErrors(await portal.open(path.replace(':endpoint', endpoint.id)), errors);
  });
});
