import { SERVICE_ACTOR } from '../../src/audit/audit.service.js';
import { MembersService } from '../../src/partners/members/members.service.js';
import type { UserEntity } from '../../src/users/accounts/user.entity.js';
import { BrowserSession } from '../support/browser-session.js';
import { PASSWORD, REDIRECT_URI } from '../support/factory.js';
import { SandboxProgram, type SandboxDriver } from '../support/sandbox.js';
import { madeForEach } from '../support/made.js';
import { useSharedService } from '../support/test-service.js';

const NAMES = ['Grace of the second branch', 'Ada, who always cancels'];

describe('The names of drivers on the authorization page of a sandbox', () => {
  const service = useSharedService();
  const owner = madeForEach(() => service.make.user({ kind: 'organisation' }));
  const partner = madeForEach(() => SandboxProgram.start(service, { ownerId: owner.id }));
  let drivers: SandboxDriver[];
  let path: string;

  beforeEach(async () => {
    drivers = [];
    for (const name of NAMES) drivers.push(await partner.driver({ name }, false));
    const query = { response_type: 'code', client_id: partner.client.id, redirect_uri: REDIRECT_URI };
    path = `/o/authorize/?${new URLSearchParams(query).toString()}`;
  });

  const offeredTo = async (browser: BrowserSession) => {
    const page = await browser.open(path);
    const options = page.html.querySelectorAll('select[name=driver] option');
    return {
      page,
      labels: options.map((each) => each.text),
      values: options.map((each) => each.getAttribute('value')),
    };
  };
  const signedIn = (user: UserEntity): Promise<BrowserSession> => service.make.signedIn(user);

  it('are not shown to strangers, who choose by number and may log in', async () => {
    const browser = new BrowserSession(service.url);
    const { page, labels, values } = await offeredTo(browser);
    expect(labels).toEqual(['Driver 1', 'Driver 2']);
    expect(values).toEqual(drivers.map(({ id }) => id));
    for (const text of [...NAMES, ...drivers.map(({ seed }) => String(seed))]) {
      expect(page.text).not.toContain(text);
    }
    const login = page.html.querySelector('main a[href^="/login?"]')!.getAttribute('href')!;
    expect(new URLSearchParams(login.split('?')[1]).get('return_to')).toBe(path);
    const answer = await browser.submit(page, '/o/authorize/', {
      driver: drivers[1]!.id,
      decision: 'authorize',
    });
    expect(new URL(answer.headers.get('location')!).searchParams.get('code')).toMatch(/^cds_ac_/);
  });

  it('are not shown to people of others, operators included', async () => {
    const others = [
      await service.make.user(),
      await service.make.user({ kind: 'organisation' }),
      await service.make.user({ role: 'operator' }),
    ];
    for (const user of others) {
      const { page, labels } = await offeredTo(await signedIn(user));
      expect(labels).toEqual(['Driver 1', 'Driver 2']);
      expect(page.html.querySelector('main a[href^="/login?"]')).toBeNull();
    }
  });

  it('are shown to the owner and to members, with every role, for as long as they are', async () => {
    const names = drivers.map(({ name, seed }) => `${name} (seed ${seed})`);
    expect((await offeredTo(await signedIn(owner))).labels).toEqual(names);
    const members = service.app.get(MembersService);
    const viewer = await service.make.user();
    await members.add(owner.id, viewer.id, 'viewer', SERVICE_ACTOR);
    const browser = new BrowserSession(service.url);
    await browser.logIn(viewer.email, PASSWORD);
    expect((await offeredTo(browser)).labels).toEqual(names);
    await members.remove(owner.id, viewer.id, SERVICE_ACTOR);
    expect((await offeredTo(browser)).labels).toEqual(['Driver 1', 'Driver 2']);
  });
});
