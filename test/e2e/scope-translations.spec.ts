import { authorizePath } from '../support/browser-session.js';
import { REDIRECT_URI } from '../support/factory.js';
import { madeOnce } from '../support/made.js';
import { useService } from '../support/test-service.js';

describe('The words of scopes in other languages', () => {
  const service = useService();
  const bearer = madeOnce(async () => ({ token: await service.make.adminToken() }));

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
});
