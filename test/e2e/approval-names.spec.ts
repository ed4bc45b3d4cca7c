import type { Page } from '../support/browser-session.js';
import { madeOnce } from '../support/made.js';
import { useService } from '../support/test-service.js';

describe('An approval that waits', () => {
  const service = useService({ env: { FOUR_EYES: 'true' } });
  const operator = madeOnce(() => service.make.user({ role: 'operator', name: 'Olga Operator' }));
  const browser = madeOnce(() => service.make.signedIn(operator));

  const textOf = ({ html }: Page): string => html.querySelector('main')!.text.replace(/\s+/g, ' ');
  const erase = async (path: string): Promise<string> => {
    const answer = await browser.submit(await browser.open(path), path);
    expect(answer.status).toBe(303);
    return answer.headers.get('location')!;
  };

  it('names the person to erase and who asked for it, on its page and in the list', async () => {
    const user = await service.make.user({ name: 'Ada <b>Driver</b>' });
    const path = await erase(`/admin/console/users/${user.id}/erase`);
    for (const page of [await browser.open(path), await browser.open('/admin/console/approvals')]) {
      expect(textOf(page)).toContain('Ada <b>Driver</b>');
      expect(textOf(page)).toContain('Olga Operator');
      const link = page.html.querySelector(`a[href="/admin/console/users/${user.id}"]`)!;
      expect(link.text).toContain('Ada');
      expect(page.text).toContain(user.id);
      expect(page.text).not.toContain('<b>Driver');
    }
  });

  it('names the client to delete', async () => {
    const client = await service.make.client({ name: 'Charge Planner' });
    const path = await erase(`/admin/console/clients/${client.id}/delete`);
    const page = await browser.open(path);
    expect(page.html.querySelector(`a[href="/admin/console/clients/${client.id}"]`)!.text).toBe(
      'Charge Planner',
    );
  });

  it('keeps the id of what is gone', async () => {
    const user = await service.make.user();
    const path = await erase(`/admin/console/users/${user.id}/erase`);
    await service.database.query('DELETE FROM users WHERE id = $1', [user.id]);
    expect(textOf(await browser.open(path))).toContain(user.id);
  });
});
