import { madeForEach, PASSWORD, wordsOf } from '../support/spec.js';
import { MEMBERS, setUpOrganisation } from '../support/organisation.js';

describe('An account that is no organisation any more', () => {
  const own = setUpOrganisation();
  const { newBrowser, signedIn, inPortal, member, invite } = own;
  let { service, smtp, owner, email } = own;
  const user = madeForEach(() => member('viewer'));
  beforeEach(async () => ({ service, smtp, owner, email } = own));

  const becomePerson = () => service.make.updateUser(owner, { kind: 'individual' });
  const roles = async () => {
    return service.database.column<string>(
      'SELECT role FROM organisation_members WHERE organisation_id = $1 ORDER BY user_id',
      [owner.id],
    );
  };

  it('keeps its members until they are removed by the admin API, which adds no others', async () => {
    const bearer = await service.make.adminToken();
    const kind = { method: 'PATCH', bearer, json: { kind: 'individual' } } as const;
    expect((await service.http.send(`/admin/users/${owner.id}`, kind)).status).toBe(200);
    const path = `/admin/users/${owner.id}/members`;
    const role = { method: 'PATCH', bearer, json: { role: 'developer' } } as const;
    expect((await service.http.send(`${path}/${user.id}`, role)).status).toBe(200);
    expect(await roles()).toEqual(['developer']);
    const other = { user_id: (await service.make.user()).id, role: 'viewer' };
    expect((await service.http.send(path, { bearer, json: other })).status).toBe(409);
    const removal = { method: 'DELETE', bearer } as const;
    expect((await service.http.send(`${path}/${user.id}`, removal)).status).toBe(204);
    expect(await roles()).toEqual([]);
  });

  it('has the forms for its members and invitations in the portal, but none that invites', async () => {
    const admin = await inPortal(await member('admin'));
    await invite(admin);
    await smtp.mailTo(email);
    const before = await admin.open(MEMBERS);
    await becomePerson();
    expect((await admin.submit(before, MEMBERS, { email: 'x@partner.example' })).status).toBe(409);
    const one = `${MEMBERS}/${user.id}`;
    expect((await admin.submit(await admin.open(one), one, { role: 'developer' })).status).toBe(303);
    expect((await admin.submit(await admin.open(`${one}/remove`), `${one}/remove`)).status).toBe(303);
    expect(await roles()).toEqual(['admin']);
    const page = await admin.open(MEMBERS);
    expect(page.html.querySelector(`form[action="${MEMBERS}"]`)).toBeNull();
    expect(wordsOf(page)).toContain('so nobody else can be invited');
    const withdrawal = page.html
      .querySelector(`form[action^="${MEMBERS}/withdraw/"]`)!
      .getAttribute('action')!;
    expect((await admin.submit(page, withdrawal)).status).toBe(303);
    await service.database.query("UPDATE sessions SET created_at = now() - interval '16 minutes'");
    expect(wordsOf(await admin.open(MEMBERS))).toContain('Confirm that it is you');
  });

  it('is joined by nobody who was invited before', async () => {
    await invite(await inPortal(owner));
    const link = new URL((await smtp.mailTo(email)).link).pathname;
    await becomePerson();
    const person = { name: 'Zoë Partner', password: PASSWORD, password_again: PASSWORD };
    const browser = newBrowser();
    expect((await browser.submit(await browser.open(link), link, person)).status).toBe(409);
    const invited = await signedIn(await service.make.user({ email, emailVerified: true }));
    expect((await invited.submit(await invited.open(link), link)).status).toBe(409);
    expect(await roles()).toEqual(['viewer']);
  });

  it('has its members removed in the console', async () => {
    const operator = await service.make.signedInNew({ role: 'operator' });
    await becomePerson();
    const path = `/admin/console/users/${owner.id}/members`;
    const fields = { user: user.email, role: 'admin' };
    expect((await operator.submit(await operator.open(`${path}/new`), `${path}/new`, fields)).status).toBe(
      303,
    );
    expect(await roles()).toEqual(['admin']);
    const removal = `${path}/${user.id}/remove`;
    expect((await operator.submit(await operator.open(removal), removal)).status).toBe(303);
    expect(await roles()).toEqual([]);
  });
});
