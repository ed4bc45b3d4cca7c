import { auditEventsOn } from '../support/audit-events.js';
import { authorizePath, madeForEach, madeOnce, REDIRECT_URI, useSharedService } from '../support/spec.js';
import { setUpConsole } from '../support/console.js';
import { whileHeld } from '../support/held-rows.js';
import { errorsIn, expectPlainErrors } from '../support/plain-words.js';
import { receiptOf, type SignedReceipt } from '../support/receipts.js';

const PURPOSES = '/admin/console/purposes';
const WORDS = { en: 'To plan routes with charging stops', de: 'Um Routen mit Ladepausen zu planen' };

describe('Purposes', () => {
  const service = useSharedService();
  const admin = madeOnce(async () => ({ bearer: await service.make.adminToken() }));
  let counter = 0;
  let name: string;
  beforeEach(() => void (name = `purpose_${++counter}`));

  const send = (path: string, method: string, json?: unknown) =>
    service.http.send(`/admin/purposes${path}`, { method, json, ...admin });
  const put = (words: unknown, as = name) => send(`/${as}`, 'PUT', { words });
  const declare = (purposes: unknown, clientId: string) =>
    service.http.send(`/admin/clients/${clientId}`, { method: 'PATCH', json: { purposes }, ...admin });

  describe('in the admin API', () => {
    it.each<[string, unknown, string]>([
      ['no words', undefined, 'words'],
      ['words that are a text', 'To plan', 'words'],
      ['words that are a list', ['To plan'], 'words'],
      ['no English words', { de: 'Um zu planen' }, 'words.en'],
      ['empty English words', { en: ' ' }, 'words.en'],
      ['words that are too long', { en: 'x'.repeat(301) }, 'words.en'],
      ['words that are no text', { en: 7 }, 'words.en'],
      ['no words in a language', { en: 'To plan', de: null }, 'words.de'],
      ['words with hidden characters', { en: 'To plan', fr: 'a\u202eb' }, 'words.fr'],
      ['another language', { en: 'To plan', it: 'Per pianificare' }, 'words.it'],
      ['another member', { en: 'To plan', constructor: 'x' }, 'words.constructor'],
    ])('refuse %s', async (_what, words, member) => {
      const answer = await put(words);
      expect([answer.status, Object.keys(answer.json.field_errors as object)]).toEqual([400, [member]]);
      expect((await send(`/${name}`, 'GET')).status).toBe(404);
    });

    it('refuse a name with other characters, and unknown names', async () => {
      const answer = await put(WORDS, 'Route%20Planning');
      expect([answer.status, Object.keys(answer.json.field_errors as object)]).toEqual([400, ['name']]);
      expect((await send('/nothing', 'GET')).status).toBe(404);
      expect((await send('/nothing', 'DELETE')).status).toBe(404);
    });

    it('are read with one scope, and changed with another', async () => {
      const bearer = await service.make.adminToken(['admin:read']);
      expect((await service.http.get('/admin/purposes', { bearer })).status).toBe(200);
      for (const method of ['PUT', 'DELETE']) {
        const answer = await service.http.send(`/admin/purposes/${name}`, {
          method,
          json: { words: WORDS },
          bearer,
        });
        expect(answer.status).toBe(403);
      }
    });

    it('are created, changed, listed and deleted, and each change is audited', async () => {
      const created = await put({ en: WORDS.en });
      expect([created.status, created.json]).toEqual([201, { name, words: { en: WORDS.en } }]);
      const changed = await put({ de: WORDS.de, en: WORDS.en });
      expect([changed.status, changed.json]).toEqual([200, { name, words: WORDS }]);
      await put(WORDS);
      expect((await send('', 'GET')).json as unknown as unknown[]).toContainEqual({ name, words: WORDS });
      expect((await send(`/${name}`, 'DELETE')).status).toBe(204);
      expect((await send(`/${name}`, 'GET')).status).toBe(404);
      expect(await auditEventsOn(service, name)).toMatchObject([
        { action: 'purpose.created', after: { name, words: { en: WORDS.en } } },
        { action: 'purpose.updated', before: { words: { en: WORDS.en } }, after: { words: WORDS } },
        { action: 'purpose.deleted', before: { name, words: WORDS } },
      ]);
    });
  });

  describe('of a client', () => {
    const client = madeForEach(() => service.make.client({ name: 'Charge Planner' }));

    it.each<[string, unknown]>([
      ['unknown ones', ['nothing']],
      ['names that are none', ['Route Planning']],
      ['the same twice', ['one', 'one']],
      ['more than ten', Array.from({ length: 11 }, (_each, n) => `p${n}`)],
      ['a text', 'one'],
      ['null', null],
    ])('refuse %s', async (_what, purposes) => {
      const answer = await declare(purposes, client.id);
      expect([answer.status, Object.keys(answer.json.field_errors as object)]).toEqual([400, ['purposes']]);
    });

    it('cannot be deleted while it declares them', async () => {
      await put(WORDS);
      expect((await declare([name], client.id)).json).toMatchObject({ purposes: [name] });
      const refused = await send(`/${name}`, 'DELETE');
      expect([refused.status, refused.json.detail]).toEqual([
        409,
        'A client declares this purpose, so it cannot be deleted.',
      ]);
      await declare([], client.id);
      expect((await send(`/${name}`, 'DELETE')).status).toBe(204);
    });

    it('are not deleted at the moment at which a client declares them', async () => {
      await put(WORDS);
      const declaring = `WITH held AS (SELECT name FROM purposes WHERE name = $2 FOR SHARE)
        UPDATE clients SET purposes = ARRAY[held.name] FROM held WHERE id = $1`;
      const deleting = [() => send(`/${name}`, 'DELETE')];
      const [answer] = await whileHeld(service, [declaring, [client.id, name]], deleting, 'COMMIT');
      expect(answer!.status).toBe(409);
    });

    it('are audited with it', async () => {
      await put(WORDS);
      await declare([name], client.id);
      expect(await auditEventsOn(service, client.id, 'client.updated')).toMatchObject([
        { before: { purposes: [] }, after: { purposes: [name] } },
      ]);
    });
  });

  describe('are shown to users', () => {
    const client = madeForEach(() => service.make.client({ optionalScopes: ['vehicle:read'] }));
    const user = madeForEach(() => service.make.user());
    const browser = madeForEach(() => service.make.signedIn(user));
    const open = () =>
      browser.open(
        authorizePath({ response_type: 'code', client_id: client.id, redirect_uri: REDIRECT_URI }),
      );
    const receipt = async (): Promise<SignedReceipt['receipt']> => {
      const [id] = await service.database.column<string>(
        'SELECT id FROM consent_versions WHERE user_id = $1 ORDER BY number DESC LIMIT 1',
        [user.id],
      );
      return (await receiptOf(browser, id!)).receipt;
    };

    it('not at all if the client declares none', async () => {
      const page = await open();
      expect(page.text).not.toContain('What for');
      await browser.submit(page, '/o/authorize/', { decision: 'authorize' });
      expect(await receipt()).toMatchObject({ purposes: [] });
    });

    it('when they agree, on the account page, and in the receipt with the words that they saw', async () => {
      await put(WORDS);
      await declare([name], client.id);
      const page = await open();
      expect(page.html.querySelector('h1 ~ .purposes')!.text).toBe(`What for: ${WORDS.en}`);
      await browser.submit(page, '/o/authorize/', { decision: 'authorize' });
      const given = await receipt();
      expect(given.purposes).toEqual([name]);
      expect(JSON.parse(given.words!.text)).toMatchObject({ purposes: [WORDS.en] });
      expect((await browser.open(`/account/receipts/${given.record_id}`)).text).toContain('What for');
      const path = `/account/applications/${client.id}/access`;
      const choice = await browser.open(path);
      expect(choice.text).toContain(WORDS.en);
      await declare([], client.id);
      expect((await browser.submit(choice, path)).status).toBe(422);
      await browser.fillIn(path);
      expect(await receipt()).toMatchObject({ purposes: [], event: { type: 'changed', method: 'account' } });
      const answer = await service.http.get(`/admin/clients/${client.id}/consents`, admin);
      expect(answer.json).toMatchObject([{ purposes: [] }]);
    });

    it('again if their words changed while the page was open', async () => {
      await put(WORDS);
      await declare([name], client.id);
      const page = await open();
      await put({ en: 'To sell your data' });
      const answer = await browser.submit(page, '/o/authorize/', { decision: 'authorize' });
      expect(answer.status).toBe(422);
      expect(answer.text).toContain('To sell your data');
    });

    it('by an operator who records a consent, in its record', async () => {
      await put(WORDS);
      await declare([name], client.id);
      await service.make.consent(client, user);
      expect(await receipt()).toMatchObject({ purposes: [name], words: null });
      const [id] = await service.database.column<string>(
        'SELECT id FROM consent_versions WHERE user_id = $1',
        [user.id],
      );
      expect((await browser.open(`/account/receipts/${id}`)).text).toContain(WORDS.en);
    });

    it('in a sandbox, too', async () => {
      await put(WORDS);
      const sandbox = await service.make.client({ environment: 'sandbox', purposes: [name] });
      const page = await browser.open(
        authorizePath({ response_type: 'code', client_id: sandbox.id, redirect_uri: REDIRECT_URI }),
      );
      expect(page.text).toContain(WORDS.en);
    });
  });

  describe('in the console', () => {
    const { browser, submit, said } = setUpConsole(service);

    it('show what is wrong beside the fields, and keep what was typed', async () => {
      const page = await submit(`${PURPOSES}/new`, {
        name: 'Not a name',
        'words.en': '',
        'words.de': 'a\u202eb',
      });
      expectPlainErrors(page, ['name', 'words.en', 'words.de']);
      expect(page.html.querySelector('input[name="name"]')!.getAttribute('value')).toBe('Not a name');
      expect(errorsIn(page)['words.en']).toBe('Enter 1 to 300 characters.');
    });

    it('are created, changed and deleted', async () => {
      expect(
        await said(await submit(`${PURPOSES}/new`, { name, 'words.en': WORDS.en, 'words.fr': ' ' })),
      ).toBe('Purpose saved.');
      const edit = await browser.open(`${PURPOSES}/${name}/edit`);
      expect(edit.text).toContain(WORDS.en);
      await submit(`${PURPOSES}/${name}/edit`, { 'words.de': WORDS.de });
      expect((await send(`/${name}`, 'GET')).json).toEqual({ name, words: WORDS });
      const row = (await browser.open(PURPOSES)).html
        .querySelectorAll('tbody tr')
        .find((each) => each.querySelector('th')!.text.includes(name))!;
      const languages = row.querySelector('[data-head="Languages"]')!;
      expect(languages.text).toContain('English, German');
      expect(languages.querySelector('.badge-warn')!.text).toBe(
        'English instead of French, Dutch and Spanish',
      );
      expect(edit.html.querySelectorAll('label[for^="words"]').map(({ text }) => text)[1]).toBe(
        'Words in German',
      );
      expectPlainErrors(await submit(`${PURPOSES}/new`, { name, 'words.en': 'Something else' }), ['name']);
      expect((await send(`/${name}`, 'GET')).json).toEqual({ name, words: WORDS });
      expect(await said(await submit(`${PURPOSES}/${name}/delete`))).toBe('Purpose deleted.');
      expect((await send(`/${name}`, 'GET')).status).toBe(404);
    });

    it('are changed by a form that leaves as it is what others have changed since it was opened', async () => {
      await put(WORDS);
      const path = `${PURPOSES}/${name}/edit`;
      const page = await browser.open(path);
      const others = { en: 'To find charging stops', fr: 'Pour trouver des bornes' };
      await put({ ...WORDS, ...others });
      const saved = await browser.submit(page, path, { 'words.de': 'Um Ladepausen zu finden' });
      expect(await said(saved)).toBe('Purpose saved.');
      const words = { ...others, de: 'Um Ladepausen zu finden' };
      expect((await send(`/${name}`, 'GET')).json).toEqual({ name, words });
    });

    it('are not deleted while a client declares them', async () => {
      await put(WORDS);
      await service.make.client({ purposes: [name] });
      const answer = await submit(`${PURPOSES}/${name}/delete`);
      expect(answer.status).toBe(409);
      expect(answer.text).toContain('A client declares this purpose');
    });

    it('are chosen for a client, and shown with it', async () => {
      await put(WORDS);
      const client = await service.make.client();
      await submit(`/admin/console/clients/${client.id}/edit`, { purposes: [name] });
      expect((await browser.open(`/admin/console/clients/${client.id}`)).text).toContain(name);
      const wrong = await submit(`/admin/console/clients/${client.id}/edit`, { purposes: ['nothing'] });
      expectPlainErrors(wrong, ['purposes']);
    });
  });
});
