import { authorizePath, madeOnce, REDIRECT_URI, useSharedService } from '../support/spec.js';
import { untilWaitingForLocks } from '../support/locks.js';
import { connectionTo } from '../support/test-database.js';

const service = useSharedService();
const bearer = madeOnce(async () => ({ token: await service.make.adminToken() }));

/** What other files find as it was: the answer of the admin API, which is also what it takes. */
const before = (path: string, members: string[]) => {
  const found = madeOnce(async () => (await service.http.get(path, { bearer: bearer.token })).json as object);
  afterAll(async () => {
    const json = Object.fromEntries(Object.entries(found).filter(([name]) => members.includes(name)));
    expect((await service.http.send(path, { method: 'PUT', bearer: bearer.token, json })).status).toBe(200);
  });
};

describe('The words of scopes in other languages', () => {
  before('/admin/scopes/vehicle:read', ['description', 'audience', 'translations']);

  const put = (json: object, name = 'vehicle:read') =>
    service.http.send(`/admin/scopes/${name}`, {
      method: 'PUT',
      bearer: bearer.token,
      json: { description: 'See your vehicles', audience: 'partner', ...json },
    });
  const translations = async () =>
    (await service.http.get('/admin/scopes/vehicle:read', { bearer: bearer.token })).json.translations;

  it.each<[string, object, string]>([
    ['of a language that there is not', { ja: 'x' }, 'translations.ja'],
    ['of English, which the description is in', { en: 'x' }, 'translations.en'],
    ['that are empty', { de: ' ' }, 'translations.de'],
    ['that are no text', { de: 1 }, 'translations.de'],
    ['that are too long', { de: 'x'.repeat(301) }, 'translations.de'],
    ['that hide how they read', { fr: 'a\u202Eb' }, 'translations.fr'],
  ])('are refused %s', async (_what, given, member) => {
    const answer = await put({ translations: given });
    expect([answer.status, Object.keys(answer.json.field_errors as object)]).toEqual([400, [member]]);
  });

  it.each([null, 'x', []])('are refused as %j', async (given) => {
    expect((await put({ translations: given })).status).toBe(400);
  });

  it('are refused of a scope that is deleted at this moment', async () => {
    const name = 'trip:read';
    expect((await put({}, name)).status).toBe(201);
    const deleting = await connectionTo(service);
    await deleting.query(`BEGIN; DELETE FROM scopes WHERE name = '${name}'`);
    const changing = put({ translations: { de: 'Ihre Fahrten sehen' } }, name);
    await untilWaitingForLocks(service.database, 1);
    await deleting.query('COMMIT');
    expect((await changing).status).toBe(409);
  });

  it('are shown to users who read in that language, and the English ones to others', async () => {
    const client = await service.make.client({ scopes: ['vehicle:read'] });
    const browser = await service.make.signedInNew();
    const textIn = async (language: string) =>
      (
        await browser.open(
          authorizePath({
            response_type: 'code',
            client_id: client.id,
            redirect_uri: REDIRECT_URI,
            ui_locales: language,
          }),
        )
      ).text;
    expect((await put({ translations: { de: 'Ihre Fahrzeuge sehen, neu' } })).status).toBe(200);
    expect(await textIn('de')).toContain('Ihre Fahrzeuge sehen, neu');
    expect(await textIn('fr')).toContain('See your vehicles');
  });

  it('stay while the description stays, and go with another one', async () => {
    await put({ translations: { fr: 'Voir', de: 'Sehen' } });
    await put({});
    expect(await translations()).toEqual({ de: 'Sehen', fr: 'Voir' });
    await put({ description: 'See your vehicles and trips' });
    expect(await translations()).toEqual({});
  });

  it('stay although a form of the console was opened before they were written', async () => {
    await put({ translations: { de: 'Sehen' } });
    const browser = await service.make.signedInNew({ role: 'operator' });
    const form = '/admin/console/scopes/vehicle:read/edit';
    const page = await browser.open(form);
    await put({ description: 'See your cars', translations: { de: 'Sehen', fr: 'Voir' } });
    expect((await browser.submit(page, form, { 'translations.de': 'Ansehen' })).status).toBe(303);
    const { json } = await service.http.get('/admin/scopes/vehicle:read', { bearer: bearer.token });
    expect([json.description, json.translations]).toEqual(['See your cars', { de: 'Ansehen', fr: 'Voir' }]);
  });
});

describe('The words of event types in other languages', () => {
  const path = '/admin/event_types/vehicle.created';
  before(path, ['description', 'scope', 'sample', 'resource', 'translations']);

  const type = async () => (await service.http.get(path, { bearer: bearer.token })).json;
  const put = async (json: object) => {
    const { description, scope, sample, resource } = await type();
    const body = { description, scope, sample, resource, ...json };
    return service.http.send(path, { method: 'PUT', bearer: bearer.token, json: body });
  };

  it('are refused in a language that there is not, or if they hide how they read', async () => {
    const answer = await put({ translations: { ja: 'x', en: 'x', fr: 'a\u202Eb' } });
    expect([answer.status, Object.keys(answer.json.field_errors as object)]).toEqual([
      400,
      ['translations.ja', 'translations.en', 'translations.fr'],
    ]);
  });

  it('are there at first, stay while the description stays, and go with another one', async () => {
    expect(Object.keys((await type()).translations)).toEqual(['de', 'fr', 'nl', 'es']);
    await put({ translations: { fr: 'Voir', de: 'Sehen' } });
    await put({});
    expect((await type()).translations).toEqual({ de: 'Sehen', fr: 'Voir' });
    await put({ description: 'A vehicle is there.' });
    expect((await type()).translations).toEqual({});
  });

  it('are written in the console, which says what is wrong beside the field', async () => {
    const browser = await service.make.signedIn(await service.make.user({ role: 'operator' }));
    const form = '/admin/console/event-types/vehicle.created/edit';
    const labels = (await browser.open(form)).html.querySelectorAll('label[for^="translations"]');
    const languages = ['German', 'French', 'Dutch', 'Spanish'];
    expect(labels.map(({ text }) => text)).toEqual(languages.map((each) => `Description in ${each}`));
    const refused = await browser.fillIn(form, { 'translations.de': 'a\u202Eb' });
    expect([refused.status, refused.html.querySelectorAll('.field-error').length]).toEqual([400, 1]);
    expect((await browser.fillIn(form, { 'translations.de': 'Ein Fahrzeug.' })).status).toBe(303);
    const page = await browser.open('/admin/console/event-types/vehicle.created');
    expect(page.html.querySelector('[lang="de"]')!.text).toBe('Ein Fahrzeug.');
  });
});
