import { parse, type HTMLElement } from 'node-html-parser';
import { SERVICE_ACTOR } from '#records/audit/audit.service.js';
import { ClientSecretsService } from '#access/clients/client-secrets.service.js';
import { MembersService } from '#events/partners/members/members.service.js';
import { insertContact } from '../support/contacts.js';
import { EndpointsService } from '#events/webhooks/endpoints/endpoints.service.js';
import type { UserEntity } from '#access/users/accounts/user.entity.js';
import { BrowserSession, madeOnce, type Page, useSharedService } from '../support/spec.js';
import { PASSWORD, REDIRECT_URI, type TestClient } from '../support/factory.js';
import { enterPortal, makeEndpoint } from '../support/portal.js';

const GUIDE = '/docs/guides/on-behalf-of-a-user';
const GOING_LIVE = '/docs/guides/going-live';

const textIn = ({ text: page }: Page, variable: string): string => {
  const html = parse(page, { blockTextElements: { script: true, style: true } });
  return html.querySelector(`[data-variable="${variable}"]`)!.textContent;
};
/** What a page's samples have for a variable; undefined where nothing was put in. */
const valueIn = (page: Page, variable: string): string | undefined => {
  const text = textIn(page, variable);
  return text.endsWith('…') ? undefined : text;
};
const idIn = (page: Page): string | undefined => valueIn(page, 'CLIENT_ID');
const cacheOf = ({ headers }: Page): string | null => headers.get('cache-control');

describe('The guides, read by a member of a partner’s organisation,', () => {
  const service = useSharedService({ env: { WEBHOOK_ALLOW_PRIVATE_ADDRESSES: 'true' } });
  const members = () => service.app.get(MembersService);

  const owner = madeOnce(() => service.make.user({ kind: 'organisation', name: 'Northwind' }));
  const sandbox = madeOnce(() =>
    service.make.client({
      ownerId: owner.id,
      name: 'A first',
      environment: 'sandbox',
      redirectUris: [`${REDIRECT_URI}?it's=1&b=2`],
    }),
  );
  const second = madeOnce(() =>
    service.make.client({ ownerId: owner.id, name: 'B second', environment: 'sandbox' }),
  );
  const foreign = madeOnce(() => service.make.client({ environment: 'sandbox' }));
  const member = madeOnce(async () => {
    const user = await service.make.user();
    // The clients are there before somebody reads.
    for (const { ownerId } of [sandbox, second]) expect(ownerId).toBe(owner.id);
    await members().add(owner.id, user.id, 'viewer', SERVICE_ACTOR);
    return user;
  });
  const signedIn = (user: UserEntity): Promise<BrowserSession> => service.make.signedIn(user);

  describe('show nothing of a client', () => {
    it.each(
      Object.entries<() => Promise<BrowserSession>>({
        'to nobody': () => Promise.resolve(new BrowserSession(service.url)),
        'to a driver': () => service.make.signedInNew(),
        'to a member whose organisation may not have webhooks': async () => {
          const organisation = await service.make.user({ kind: 'organisation', webhooksEnabled: false });
          await service.make.client({ ownerId: organisation.id, environment: 'sandbox' });
          return signedIn(organisation);
        },
        'to a member of an organisation whose only client is disabled': async () => {
          const client = await service.make.client({ environment: 'sandbox' });
          await service.make.updateClient(client, { enabled: false });
          return signedIn(await ownerOf(client));
        },
        'to someone who was a member': async () => {
          const user = await service.make.user();
          await members().add(owner.id, user.id, 'admin', SERVICE_ACTOR);
          await members().remove(owner.id, user.id, SERVICE_ACTOR);
          return signedIn(user);
        },
      }),
    )('%s', async (_who, browserOf) => {
      const browser = await browserOf();
      const page = await browser.open(`${GUIDE}?client=${foreign.id}`);
      expect([page.status, idIn(page), valueIn(page, 'REDIRECT_URI')]).toEqual([200, undefined, undefined]);
      expect([cacheOf(page), page.text.includes('Northwind')]).toEqual(['no-store', false]);
      expect((await browser.open('/docs')).text).not.toContain('x-scalar-client-id');
      expect((await browser.open(GOING_LIVE)).html.querySelector('.checks .badge')).toBeNull();
    });

    const ownerOf = async ({ ownerId }: TestClient): Promise<UserEntity> =>
      (await service.database.query<UserEntity>('SELECT id, email FROM users WHERE id = $1', [ownerId]))[0]!;
  });

  it('have the values of the sandbox client, as a shell reads them, for this reader alone, and never a secret', async () => {
    const page = await (await signedIn(member)).open(GUIDE);
    expect(idIn(page)).toBe(sandbox.id);
    // Inside single quotes of a shell.
    expect(valueIn(page, 'REDIRECT_URI')).toBe(`${REDIRECT_URI}?it'\\''s=1&b=2`);
    expect(page.text).not.toContain(sandbox.secret);
    expect(valueIn(page, 'CLIENT_SECRET')).toBeUndefined();
    expect(cacheOf(page)).toBe('private, no-store');
    const again = await new BrowserSession(service.url).open(GUIDE);
    expect([idIn(again), cacheOf(again)]).toEqual([undefined, 'no-store']);
  });

  it('are for the client that the reader chooses, on the other pages too, if it is one of theirs', async () => {
    const browser = await signedIn(member);
    expect(idIn(await browser.open(`${GUIDE}?client=${foreign.id}`))).toBe(sandbox.id);
    const page = await browser.open(GUIDE);
    const names = page.html.querySelectorAll('.client-choice option').map(({ text }) => text);
    expect(names).toEqual(['A first, Northwind', 'B second, Northwind']);
    expect(idIn(await browser.open(`${GUIDE}?client=${second.id}`))).toBe(second.id);
    expect(idIn(await browser.open('/docs/libraries/authlib'))).toBe(second.id);
    const reference = await browser.open('/docs');
    expect(reference.text).toContain(`"x-scalar-client-id":"${second.id}"`);
    expect(cacheOf(reference)).toBe('private, no-store');
    // Of somebody else in the same browser nothing is left.
    browser.cookies.delete('cds_session');
    expect(idIn(await browser.open(GUIDE))).toBeUndefined();
  });

  it('say what a member without a sandbox client has to do', async () => {
    const client = await service.make.client();
    const organisation = await service.make.user();
    await service.database.query('UPDATE clients SET owner_id = $2 WHERE id = $1', [
      client.id,
      organisation.id,
    ]);
    const page = await (await signedIn(organisation)).open(GUIDE);
    expect(page.html.querySelector('.your-client')!.text).toContain('has no sandbox client yet');
    expect(idIn(page)).toBeUndefined();
  });

  describe('and by someone with a one-time link,', () => {
    const read = async (browser: BrowserSession) => {
      const page = await browser.open(GUIDE);
      return {
        id: idIn(page),
        uri: textIn(page, 'REDIRECT_URI'),
        words: page.html.querySelector('.your-client')!.text.replace(/\s+/g, ' '),
        page,
      };
    };

    it('have the values of the sandbox client whose portal it opened, and say whose; those of others are no choice', async () => {
      const browser = await enterPortal(service, second);
      const { id, uri, words, page } = await read(browser);
      expect([id, uri]).toEqual([second.id, REDIRECT_URI]);
      expect(words).toContain('B second Sandbox of Northwind, whose portal is open in this browser');
      expect([page.text.includes(second.secret), page.text.includes(sandbox.id)]).toEqual([false, false]);
      expect(cacheOf(page)).toBe('private, no-store');
      expect(idIn(await browser.open(`${GUIDE}?client=${sandbox.id}`))).toBe(second.id);
      const reference = await browser.open('/docs');
      expect(reference.text).toContain(`"x-scalar-client-id":"${second.id}"`);
      expect(reference.html.querySelector('.docs-ways')!.text).toContain('Sandbox: B second');
      await browser.submit(await browser.open('/portal'), '/portal/logout');
      expect((await read(browser)).id).toBeUndefined();
    });

    it('have of a live client its id and the host of its redirect URI, say that it is live, and what is to do', async () => {
      const { id: ownerId } = await service.make.user({ kind: 'organisation', name: 'Southwind' });
      const live = await service.make.client({
        ownerId,
        name: 'C live',
        redirectUris: ['https://app.example/private/callback?key=1'],
      });
      const browser = await enterPortal(service, live);
      const { id, uri, words, page } = await read(browser);
      expect([id, uri]).toEqual([live.id, 'https://app.example/…']);
      expect(words).toContain('C live of Southwind');
      expect(words).toContain('It is a live client');
      expect([page.text.includes('private'), page.text.includes(live.secret)]).toEqual([false, false]);
      expect((await browser.open('/docs')).html.querySelector('.docs-ways')!.text).toContain('Live: C live');
      expect((await browser.open(GOING_LIVE)).html.querySelector('.checks .badge')).not.toBeNull();
      // Its end ends that, too.
      await service.make.updateClient(live, { enabled: false });
      expect((await read(browser)).id).toBeUndefined();
    });

    it('leave a member who opens it the choice among all', async () => {
      const browser = await enterPortal(service, foreign);
      await browser.logIn(member.email, PASSWORD);
      expect((await read(browser)).id).toBe(foreign.id);
      expect(idIn(await browser.open(`${GUIDE}?client=${second.id}`))).toBe(second.id);
    });
  });

  describe('about going live', () => {
    const verdicts = (html: HTMLElement): Record<string, string | undefined> =>
      Object.fromEntries(
        html
          .querySelectorAll('.checks > li')
          .map((each) => [each.querySelector('strong')!.text, each.querySelector('.badge')?.text]),
      );

    it('are a plain list for everybody else, and for a member without a live client', async () => {
      for (const browser of [new BrowserSession(service.url), await signedIn(member)]) {
        const { html, status } = await browser.open(GOING_LIVE);
        expect([status, new Set(Object.values(verdicts(html)))]).toEqual([200, new Set([undefined])]);
      }
    });

    it('say what is done for the live client, each by what it depends on', async () => {
      const organisation = await service.make.user({ kind: 'organisation' });
      const client = await service.make.client({
        ownerId: organisation.id,
        name: 'Live',
        redirectUris: ['http://localhost:3000/callback'],
      });
      const browser = await signedIn(organisation);
      const open = async () => verdicts((await browser.open(GOING_LIVE)).html);
      expect(await open()).toEqual({
        'You have a live client': 'Done',
        'Its redirect URIs are the live ones': 'To do',
        'Users can read who you are': 'To do',
        'The secret was rotated once': 'To do',
        'The newest secret is in use': 'To do',
        'A webhook endpoint is enabled': 'To do',
        'Deliveries arrive': 'To do',
        'Someone is told when an endpoint fails': 'To do',
        'More than one person can open the portal': 'To do',
        'Nothing was refused in the last 24 hours': 'Done',
      });

      const { database, app, make, http } = service;
      await make.updateClient(client, {
        redirectUris: ['https://app.example/callback'],
        site: 'https://app.example',
        privacyPolicy: 'https://app.example/privacy',
      });
      const { secret } = await app.get(ClientSecretsService).rotate(client.id, 0, SERVICE_ACTOR);
      await http.token({ grant_type: 'client_credentials' }, { id: client.id, secret });
      await http.token({ grant_type: 'client_credentials' }, { id: client.id, secret: 'wrong' });
      const endpoint = await makeEndpoint(service, client);
      const attempted = (results: string) =>
        database.query(
          'UPDATE webhook_endpoints SET last_attempt_at = now(), recent_results = $2 WHERE id = $1',
          [endpoint.id, results],
        );
      // As it is when it failed, was disabled, and is enabled again.
      await attempted('xx');
      expect(await open()).toMatchObject({ 'Deliveries arrive': 'To do' });
      await attempted('xx.');
      await insertContact(database, client.id, 'ops@mail.example', true);
      await members().add(organisation.id, (await make.user()).id, 'viewer', SERVICE_ACTOR);
      expect(await open()).toEqual({
        ...Object.fromEntries(Object.keys(await open()).map((title) => [title, 'Done'])),
        'Nothing was refused in the last 24 hours': 'To do',
      });

      // A failing endpoint, and what does not concern a client without users.
      await database.query('UPDATE webhook_endpoints SET failing_since = now() WHERE id = $1', [endpoint.id]);
      await make.updateClient(client, { grantTypes: ['client_credentials'], redirectUris: [] });
      expect(await open()).toMatchObject({
        'Deliveries arrive': 'To do',
        'Its redirect URIs are the live ones': 'Not needed',
        'Users can read who you are': 'Not needed',
      });

      // What arrived at another URL.
      const moved = { url: 'http://127.0.0.1:9/moved' };
      await app.get(EndpointsService).update(endpoint.id, client.id, moved, SERVICE_ACTOR);
      expect(await open()).toMatchObject({
        'A webhook endpoint is enabled': 'Done',
        'Deliveries arrive': 'To do',
      });
    });
  });
});
