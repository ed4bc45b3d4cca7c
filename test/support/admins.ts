import type { UserEntity } from '#access/users/accounts/user.entity.js';
import type { BrowserSession, Page } from './browser-session.js';
import { wordsOf } from './portal.js';
import { addApp } from './second-factors.js';
import type { TestService } from './test-service.js';

const APPROVALS = '/admin/console/approvals';

/** An admin in a session in which a second factor was given. */
export interface AdminInPerson {
  user: UserEntity;
  browser: BrowserSession;
  /** The token of a client that the admin owns. */
  bearer: string;
}

export async function makeAdmin({ make }: TestService, name = 'An Admin'): Promise<AdminInPerson> {
  const user = await make.user({ role: 'operator', name });
  const browser = await make.signedIn(user);
  await addApp(browser);
  const client = await make.client({
    ownerId: user.id,
    scopes: ['admin:read', 'admin:write'],
    grantTypes: ['client_credentials'],
    redirectUris: [],
  });
  return { user, browser, bearer: await make.clientToken(client) };
}

/** Presses a button of the approval's page; `said` is what the page says to that, also where it does not offer the button. */
export async function decide(
  { browser }: AdminInPerson,
  id: unknown,
  what: 'approve' | 'reject' = 'approve',
): Promise<{ status: number; said: string; answer: Page }> {
  const path = `${APPROVALS}/${id as string}`;
  const page = await browser.open(path);
  if (!page.html.querySelector(`form[action="${path}/${what}"]`))
    return { status: page.status === 200 ? 403 : page.status, said: wordsOf(page), answer: page };
  const answer = await browser.submit(page, `${path}/${what}`);
  if (answer.status !== 303) {
    const said = answer.html.querySelector('[role="alert"]')?.text ?? wordsOf(answer);
    return { status: answer.status, said, answer };
  }
  const next = await browser.open(answer.headers.get('location')!);
  return { status: 200, said: next.html.querySelector('[role="status"]')?.text ?? '', answer: next };
}
