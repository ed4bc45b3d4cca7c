import { ConsentRecordService } from '#access/consents/record/consent-record.service.js';
import { authorizePath, madeForEach, REDIRECT_URI, useSharedService } from '../support/spec.js';

describe('The consent page in the language of the driver', () => {
  const service = useSharedService();
  const client = madeForEach(() => service.make.client({ name: 'Northwind' }));
  const user = madeForEach(() => service.make.user());
  const browser = madeForEach(() => service.make.signedIn(user));
  const path = (more: Record<string, string> = {}) =>
    authorizePath({ response_type: 'code', client_id: client.id, redirect_uri: REDIRECT_URI, ...more });

  it.each([
    ['de', 'Darf', 'Zulassen'],
    ['fr', 'à lire vos données de recharge', 'Autoriser'],
    ['nl', 'uw laadgegevens lezen?', 'Toestaan'],
    ['es', 'lea sus datos de carga?', 'Autorizar'],
  ])(
    'is in %s when the client asks for it, with what the driver decides',
    async (language, heading, button) => {
      const page = await browser.open(path({ ui_locales: `xx ${language}-XX en` }));
      expect(page.html.querySelector('html')!.getAttribute('lang')).toBe(language);
      expect(page.html.querySelector('h1')!.text).toContain(heading);
      expect(page.html.querySelectorAll('button').map((each) => each.text)).toContain(button);
      expect(page.text).not.toContain('Let <bdi');
      expect(page.text).not.toContain('See your vehicles');
      const answer = await browser.submit(page, '/o/authorize/', { decision: 'authorize' });
      expect(new URL(answer.headers.get('location')!).searchParams.get('code')).toMatch(/^cds_ac_/);
      const [version] = (await service.app.get(ConsentRecordService).list(user.id, client.id, { size: 1 }))
        .items;
      expect(version).toMatchObject({ event: 'given', language });
      const found = await service.app.get(ConsentRecordService).find(user.id, version!.id);
      expect(JSON.parse(found!.words!)).toMatchObject({
        heading: expect.stringContaining(heading) as string,
      });
    },
  );

  it('is in English for languages that there are not, and says so', async () => {
    const page = await browser.open(path({ ui_locales: 'ja' }));
    expect(page.html.querySelector('html')!.getAttribute('lang')).toBe('en');
    expect(page.html.querySelector('h1')!.text).toBe('Let Northwind read your charging data?');
  });

  it('can be had in another language by a link that keeps the request', async () => {
    const address = path({ state: 'a b?c' });
    const page = await browser.open(address);
    const link = page.html.querySelector('a[hreflang="de"]')!.getAttribute('href')!;
    const url = new URL(link, new URL(address, service.url));
    expect(url.searchParams.get('state')).toBe('a b?c');
    const german = await browser.open(`${url.pathname}${url.search}`);
    expect(german.html.querySelector('h1')!.text).toContain('Darf Northwind');
    // And so are the pages that follow, without being asked for it again.
    expect((await browser.open(path())).html.querySelector('html')!.getAttribute('lang')).toBe('de');
  });

  it('says in that language why it is shown again', async () => {
    const page = await browser.open(path({ ui_locales: 'fr' }));
    await service.make.updateClient(client, { name: 'Southwind' });
    const again = await browser.submit(page, '/o/authorize/', { decision: 'authorize' });
    expect(again.status).toBe(422);
    expect(again.text).toContain('Veuillez le relire.');
  });

  it('keeps names as they are, whatever they contain', async () => {
    await service.make.updateClient(client, { name: '{days} <b>Strom</b> ’n’ {' });
    const page = await browser.open(path({ ui_locales: 'de' }));
    expect(page.html.querySelector('h1')!.text).toBe('Darf {days} <b>Strom</b> ’n’ { Ihre Ladedaten lesen?');
  });
});
