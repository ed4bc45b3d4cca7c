import { SERVICE_ACTOR } from '../../src/audit/audit.service.js';
import { MembersService } from '../../src/partners/members/members.service.js';
import type { BrowserSession } from '../support/browser-session.js';
import { MEMBERS, setUpOrganisation } from '../support/organisation.js';
import { expectRetryAfter, statusesOf } from '../support/rate-limits.js';
import { wordsOf } from '../support/portal.js';

const HOUR = 3600;
/** Contract §18: for each organisation, and for each person, in an hour. */
const MAILS = 20;

describe('Mails that a partner sends from the portal', () => {
  const own = setUpOrganisation();
  const { inPortal, invite, member } = own;
  let n = 0;
  const stranger = (): string => `stranger${++n}@elsewhere.example`;

  const inviteAndWithdraw = async (admin: BrowserSession) => {
    const answer = await invite(admin, stranger());
    if (answer.status !== 303) return answer;
    const page = await admin.open(MEMBERS);
    const withdraw = page.html
      .querySelectorAll('form')
      .map((form) => form.getAttribute('action')!)
      .find((action) => action.includes('/withdraw/'))!;
    expect((await admin.submit(page, withdraw)).status).toBe(303);
    return answer;
  };

  it('are refused beyond 20 invitations of an organisation in an hour, withdrawn ones included', async () => {
    const [first, second] = [await inPortal(own.owner), await inPortal(await member('admin'))];
    expect(await statusesOf(MAILS / 2, () => inviteAndWithdraw(first))).toEqual(Array(MAILS / 2).fill(303));
    expect(await statusesOf(MAILS / 2, () => inviteAndWithdraw(second))).toEqual(Array(MAILS / 2).fill(303));
    const address = stranger();
    for (const admin of [first, second]) {
      const refused = await invite(admin, address);
      expect(refused.status).toBe(429);
      expectRetryAfter(refused, HOUR);
      const notice = refused.html.querySelector('[role="alert"]')!.text;
      expect(notice).toContain('Nothing was sent: your organisation has sent 20 mails within an hour.');
      expect(refused.html.querySelector('input[name="email"]')!.getAttribute('value')).toBe(address);
    }
    expect(
      await own.service.database.query('SELECT 1 FROM organisation_invitations WHERE email = $1', [address]),
    ).toEqual([]);
  });

  it('are refused beyond 20 of a person in an hour, whatever the organisation', async () => {
    const { service } = own;
    const person = await member('admin');
    const first = await inPortal(person);
    expect(await statusesOf(MAILS, () => inviteAndWithdraw(first))).toEqual(Array(MAILS).fill(303));
    const other = await service.make.user({ kind: 'organisation', emailVerified: true });
    own.owner = other;
    own.client = await service.make.client({ ownerId: other.id });
    await service.app.get(MembersService).add(other.id, person.id, 'admin', SERVICE_ACTOR);
    const second = await inPortal(person);
    const refused = await invite(second, stranger());
    expect([refused.status, wordsOf(refused)]).toEqual([
      429,
      expect.stringContaining('Nothing was sent: you have sent 20 mails within an hour.'),
    ]);
    expectRetryAfter(refused, HOUR);
    // Others of that organisation are not held up.
    expect((await invite(await inPortal(other), stranger())).status).toBe(303);
  });

  it('are refused beyond 20 links to contacts, removed ones included, and count together with invitations', async () => {
    const admin = await inPortal(own.owner);
    const path = '/portal/contacts';
    const addAndRemove = async () => {
      const answer = await admin.submit(await admin.open(path), path, { email: stranger() });
      if (answer.status !== 303) return answer;
      const page = await admin.open(path);
      const form = page.html
        .querySelectorAll('form')
        .map((each) => each.getAttribute('action')!)
        .find((action) => action.startsWith(`${path}/`))!;
      expect((await admin.submit(page, form, { do: 'remove' })).status).toBe(303);
      return answer;
    };
    expect(await statusesOf(MAILS, addAndRemove)).toEqual(Array(MAILS).fill(303));
    const refused = await addAndRemove();
    expect([refused.status, wordsOf(refused)]).toEqual([
      429,
      expect.stringContaining('you have sent 20 mails within an hour'),
    ]);
    expectRetryAfter(refused, HOUR);
    expect((await invite(admin, stranger())).status).toBe(429);
  });
});
