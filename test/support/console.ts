import type { ClientEntity } from '#access/clients/client.entity.js';
import { newId } from '#platform/secrets/ids.js';
import type { UserEntity } from '#access/users/accounts/user.entity.js';
import { BrowserSession, type Page } from './browser-session.js';
import { PASSWORD } from './factory.js';
import { madeForEach } from './made.js';
import { newAddress } from './rate-limits.js';
import type { TestService } from './test-service.js';
import { signIn } from './without-pages.js';

export const CONSOLE = '/admin/console';

export type Fields = Record<string, string | string[] | undefined>;

export interface ConsoleSetUp {
  operator: UserEntity;
  /** The operator has just logged in. */
  browser: BrowserSession;
  /** Sends the form for this path, which is on the page of the same path unless `from` says otherwise. */
  submit(this: void, path: string, fields?: Fields, from?: string): Promise<Page>;
  /** The page that a form led to. */
  followed(this: void, answer: Page): Promise<Page>;
  /** What the page that a form led to says about its success. */
  said(this: void, answer: Page): Promise<string | undefined>;
  /** What the operator did to it in the console, by the audit log. */
  actionsOn(this: void, id: string): Promise<string[]>;
}

/** A new operator in the console for each test. */
export function setUpConsole(service: TestService): ConsoleSetUp {
  const operator = madeForEach(() => service.make.user({ role: 'operator', name: 'Olga Operator' }));
  const browser = madeForEach(async () => {
    const made = new BrowserSession(service.url, { 'x-forwarded-for': newAddress() });
    await signIn(service, made, operator.email, PASSWORD);
    return made;
  });
  const followed = (answer: Page): Promise<Page> => {
    expect(answer.status).toBe(303);
    return browser.open(answer.headers.get('location')!);
  };
  return {
    operator,
    browser,
    followed,
    submit: async (path, fields = {}, from = path) => browser.submit(await browser.open(from), path, fields),
    said: async (answer) => (await followed(answer)).html.querySelector('[role="status"]')?.text,
    actionsOn: (id) =>
      service.database.column<string>(
        `SELECT action FROM audit_events WHERE subject_id = $1 AND actor_id = $2 AND actor_type = 'user'
            AND address IS NOT NULL AND request_id IS NOT NULL ORDER BY id`,
        [id, operator.id],
      ),
  };
}

/** An approval for the erasure of the user, and a request for a redirect URI of the client: both wait for a decision. */
export async function seedDecisions(
  { database }: TestService,
  { user, client, by = client.ownerId }: { user: { id: string }; client: ClientEntity; by?: string },
): Promise<{ approvals: string; 'redirect-uris': string }> {
  const ids = { approvals: newId('appr'), 'redirect-uris': newId('ruri') };
  await database.query(
    `INSERT INTO approvals (id, action, subject_id, requested_by_type, requested_by_id, requested_by_person, expires_at)
     VALUES ($1, 'user.erase', $2, 'user', $3, $3, now() + interval '1 day')`,
    [ids.approvals, user.id, by],
  );
  await database.query(
    `INSERT INTO redirect_uri_requests (id, client_id, action, uri, requested_by)
     VALUES ($1, $2, 'add', 'https://other.example/', $3)`,
    [ids['redirect-uris'], client.id, by],
  );
  return ids;
}

const NOTHING = 'endp01HN2NJ9NMRZBXT1H6FT9N7735';
const USUAL: Record<string, string> = {
  name: 'vehicle:read',
  purpose: 'route_planning',
  type: 'vehicle.updated',
  version: '2',
  provider: 'company',
};

/** The path of a route with these in place of its parameters, each by the part of the path before it or by its name. */
export const pathWith = (route: string, ids: Record<string, string>): string =>
  route.replace(
    /([\w-]+)\/:(\w+)/g,
    (_all, noun: string, name: string) => `${noun}/${ids[noun] ?? ids[name] ?? USUAL[name] ?? NOTHING}`,
  );
