import { once } from 'node:events';
import { connect } from 'node:net';
import { PLAIN_BRAND, PRODUCT_NAME, type BrandValues } from '#platform/config/brand-values.js';
import { BrandService } from '#records/brand/brand.service.js';
import { SERVICE_ACTOR } from '#records/audit/audit.service.js';
import { brandOn } from '../support/brand-page.js';
import { BrowserSession, errorAt, madeOnce, placeOf, until, wordsOf } from '../support/spec.js';
import { CONSOLE } from '../support/console.js';
import { useService, type TestInstance } from '../support/test-service.js';
import { leaveOutScheduledPurges, purgeOnly } from '../support/scheduled-work.js';
import { jpeg, movingWebp, png, upload } from '../support/uploads.js';
import { listOf } from '../support/list-of.js';

const BRAND = `${CONSOLE}/brand`;
const EDIT = `${BRAND}/edit`;
const LOGO = `${BRAND}/logo`;

const VOLTERA: BrandValues = {
  name: 'Voltera',
  accentColor: '#5b21b6',
  supportEmail: 'help@voltera.example',
  privacyUrl: 'https://voltera.example/privacy',
  termsUrl: 'https://voltera.example/terms',
  footer: 'Voltera GmbH, Berlin',
};
const TYPED = {
  name: VOLTERA.name,
  accent_color: '#5B21B6',
  support_email: VOLTERA.supportEmail!,
  privacy_url: VOLTERA.privacyUrl!,
  terms_url: VOLTERA.termsUrl!,
  footer: VOLTERA.footer!,
};

describe('In the company’s name', () => {
  const service = useService({ instances: 2 });
  const admin = madeOnce(() => service.make.user({ role: 'operator', name: 'Adam Admin' }));
  const browser = madeOnce(() => service.make.signedIn(admin));
  const anyone = ({ url }: TestInstance) => new BrowserSession(url);
  const home = async (instance: TestInstance = service) => brandOn(await anyone(instance).open('/'));
  const save = (fields: Record<string, string> = TYPED) => browser.fillIn(EDIT, fields);
  const events = () =>
    service.database.query<{ actor_id: string; before: object; after: object }>(
      `SELECT actor_id, before, after FROM audit_events WHERE action = 'brand.updated' ORDER BY id`,
    );
  const row = async () => {
    const [stored] = await service.database.query<Record<string, unknown>>(
      'SELECT name, accent_color, support_email, privacy_url, terms_url, footer, logo_id FROM brand',
    );
    return stored!;
  };

  beforeEach(async () => {
    const brand = service.app.get(BrandService);
    await brand.change(PLAIN_BRAND, SERVICE_ACTOR);
    await brand.changeLogo(null, SERVICE_ACTOR);
  });

  describe('it refuses', () => {
    const NAME = 'Enter 1 to 60 characters.';
    const COLOR = 'Must be a colour such as #006b57.';
    const EMAIL = 'Enter an email address, such as name@mail.example.';
    const HTTPS = 'Enter a URL that begins with https://.';
    const HIDDEN = 'Must not contain control, bidirectional or invisible characters, such as U+202E.';
    const FAINT = /^Must be darker: its contrast .* is 4\.1:1, and it must be at least 4\.5:1\.$/;
    /** What is typed together, and what is then said beside each field. */
    const WRONG: Record<string, [typed: string, words: string | RegExp]>[] = [
      {
        name: ['', NAME],
        accent_color: ['green', COLOR],
        support_email: ['help', EMAIL],
        privacy_url: ['http://voltera.example/', HTTPS],
        terms_url: ['data:text/html,x', HTTPS],
        footer: ['x'.repeat(301), 'Enter 1 to 300 characters.'],
      },
      {
        name: ['   ', NAME],
        accent_color: ['#5b21b6;} * { display: none', COLOR],
        support_email: ['mailto:help@voltera.example', EMAIL],
        privacy_url: ['javascript:alert(1)', HTTPS],
        terms_url: ['https://user:pass@voltera.example/', HTTPS],
      },
      { name: ['x'.repeat(61), NAME], accent_color: ['#767676', FAINT] },
      { name: ['Vol\u202etera', HIDDEN], accent_color: ['#ffcc00', /^Must be darker/] },
    ];

    it.each(WRONG)('what is wrong, each beside its field, and keeps what was typed (%#)', async (wrong) => {
      const typed = Object.fromEntries(Object.entries(wrong).map(([field, [text]]) => [field, text]));
      for (const what of ['save', 'preview']) {
        const page = await save({ ...TYPED, ...typed, do: what });
        expect(page.status).toBe(400);
        for (const [field, [text, words]] of Object.entries(wrong)) {
          const said = typeof words === 'string' ? words : expect.stringMatching(words);
          const kept = page.html.querySelector(`input[name=${field}]`)!.getAttribute('value');
          expect([errorAt(page, field), kept]).toEqual([said, text]);
        }
      }
      expect([(await row()).name, (await home()).header]).toEqual([null, PRODUCT_NAME]);
    });

    it('operators who are no admins, who may look at it', async () => {
      for (const operatorRole of ['viewer', 'support'] as const) {
        const other = await service.make.signedInNew({ role: 'operator', operatorRole });
        const page = await other.open(BRAND);
        expect([page.status, page.html.querySelectorAll('.page-actions a').length]).toEqual([200, 0]);
        for (const path of [EDIT, LOGO]) expect((await other.open(path)).status).toBe(403);
        const posted = await other.open(EDIT, { form: TYPED, headers: { origin: service.url } });
        expect(posted.status).toBe(403);
      }
      const driver = await service.make.signedInNew();
      expect((await driver.open(BRAND)).status).toBe(403);
      expect(placeOf(await anyone(service).open(BRAND))).toEqual([
        302,
        `/login?return_to=${encodeURIComponent(BRAND)}`,
      ]);
    });
  });

  describe('it saves', () => {
    it('what was typed: every page shows it, and the audit log says who changed what', async () => {
      expect(await home()).toMatchObject({ header: PRODUCT_NAME, links: [] });
      expect(placeOf(await save())).toEqual([303, BRAND]);
      const style = /^\/brand\.css\?accent=5b21b6&v=[0-9a-f]{12}$/;
      const expected = {
        title: 'Home · Voltera',
        header: 'Voltera',
        footer: [
          'Voltera – for drivers and the apps they choose',
          'Voltera GmbH, Berlin',
          'Support: help@voltera.example',
          'Privacy',
          'Terms',
        ],
        links: ['mailto:help@voltera.example', VOLTERA.privacyUrl, VOLTERA.termsUrl],
        styles: ['/assets/pico.min.css', '/assets/app.css', expect.stringMatching(style)],
        logo: undefined,
      };
      expect(await home()).toEqual(expected);
      for (const path of ['/login', '/docs', '/docs/guides', '/v2/problems/not-found/', '/nothing-here']) {
        const page = brandOn(await anyone(service).open(path));
        expect([path, page.header, page.links]).toEqual([path, 'Voltera', expected.links]);
      }
      const [event] = (await events()).slice(-1);
      expect(event).toMatchObject({
        actor_id: admin.id,
        before: { name: null, accent_color: null },
        after: { name: 'Voltera', accent_color: '#5b21b6', footer: 'Voltera GmbH, Berlin' },
      });
    });

    it('nothing, and records nothing, if nothing changed', async () => {
      await save();
      const before = (await events()).length;
      await save();
      expect((await events()).length).toBe(before);
    });

    it('only what was changed in the form: what others have saved since it was opened stays', async () => {
      const page = await browser.open(EDIT);
      await save({ footer: VOLTERA.footer! });
      const preview = await browser.submit(page, EDIT, { name: VOLTERA.name, do: 'preview' });
      await save({ support_email: VOLTERA.supportEmail! });
      expect(placeOf(await browser.submit(preview, EDIT, { do: 'save' }))).toEqual([303, BRAND]);
      const { name, footer, supportEmail } = VOLTERA;
      expect(await row()).toMatchObject({ name, footer, support_email: supportEmail, terms_url: null });
    });

    it('an empty field as nothing', async () => {
      await save();
      await save({
        ...TYPED,
        accent_color: '',
        support_email: ' ',
        privacy_url: '',
        terms_url: '',
        footer: '',
      });
      expect(await home()).toMatchObject({
        header: 'Voltera',
        footer: ['Voltera – for drivers and the apps they choose'],
        links: [],
        styles: ['/assets/pico.min.css', '/assets/app.css'],
      });
    });

    it('so that every instance sees it', async () => {
      await save();
      for (const instance of service.instances)
        await until('the instance shows the name', async () => (await home(instance)).header === 'Voltera');
      await service.database.query("UPDATE brand SET name = 'By hand'");
      for (const instance of service.instances)
        await until('a change by hand is seen', async () => (await home(instance)).header === 'By hand');
    });

    it('one of two changes at the same time after the other, and all instances end with the last', async () => {
      const [one, other] = service.instances.map(({ app }) => app.get(BrandService));
      await Promise.all(
        Array.from({ length: 10 }, (_, n) =>
          (n % 2 === 0 ? one! : other!).change({ ...VOLTERA, name: `Voltera ${n}` }, SERVICE_ACTOR),
        ),
      );
      const { name } = await row();
      for (const instance of service.instances)
        await until('the instance shows the last name', async () => (await home(instance)).header === name);
    });
  });

  describe('a preview', () => {
    it('shows a page with what was typed, and saves nothing', async () => {
      const before = [await row(), (await events()).length];
      const page = await save({ ...TYPED, do: 'preview' });
      expect(page.status).toBe(200);
      expect(brandOn(page)).toMatchObject({
        title: 'Preview · Voltera',
        header: 'Voltera',
        footer: expect.arrayContaining(['Voltera GmbH, Berlin']),
        styles: expect.arrayContaining([expect.stringMatching(/^\/brand\.css\?accent=5b21b6&v=/)]),
      });
      expect(wordsOf(page)).toContain('Nothing is saved yet');
      expect([await row(), (await events()).length]).toEqual(before);
      expect((await home()).header).toBe(PRODUCT_NAME);
    });

    it('leads to the form with what was typed, or saves it', async () => {
      const page = await save({ ...TYPED, do: 'preview' });
      const form = await browser.submit(page, EDIT, { do: 'edit' });
      expect([form.status, form.html.querySelector('input[name=name]')!.getAttribute('value')]).toEqual([
        200,
        'Voltera',
      ]);
      expect((await row()).name).toBeNull();
      expect(placeOf(await browser.submit(page, EDIT, { do: 'save' }))).toEqual([303, BRAND]);
      expect((await row()).name).toBe('Voltera');
    });

    it('escapes what was typed', async () => {
      const page = await save({
        ...TYPED,
        name: '<b>Voltera</b>',
        footer: '"><script>x</script>',
        do: 'preview',
      });
      expect(page.status).toBe(200);
      expect(page.html.querySelectorAll('main b, script, footer b')).toEqual([]);
    });
  });

  describe('its style sheet', () => {
    const style = (query: string) => service.http.get(`/brand.css${query}`);

    it('is at no other address', async () => {
      const accents = listOf(`
        accent=, accent=ffcc00, accent=%23006b57, accent=zzz, accent=006b57&accent=006b57
      `);
      for (const query of ['', ...accents.map((accent) => `?${accent}`)])
        expect([query, (await style(query)).status]).toEqual([query, 404]);
    });

    it('is kept for good at the address of its version, and a minute at another', async () => {
      await save();
      const address = (await home()).styles.at(-1)!;
      const answer = await service.http.get(address);
      expect(answer.headers.get('content-type')).toBe('text/css; charset=utf-8');
      expect(answer.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
      expect(answer.text).toContain('--pico-primary-background: light-dark(#5b21b6, ');
      expect((await style('?accent=5b21b6&v=x')).headers.get('cache-control')).toBe('public, max-age=60');
    });
  });

  describe('its logo', () => {
    beforeAll(() => leaveOutScheduledPurges(service));

    it.each([
      ['SVG', () => Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), /can be read/],
      ['a moving image', movingWebp, /still image/],
      ['an image of too many pixels', () => png(4097, 1), /4096 pixels/],
      ['nothing', () => Buffer.alloc(0), /choose a file/i],
      ['a file of more than 1 MB', async () => Buffer.concat([await png(), Buffer.alloc(1_048_576)]), /1 MB/],
    ])('is not %s', async (_what, make, words) => {
      const page = await upload(browser, LOGO, await make());
      expect([page.status, errorAt(page, 'logo')]).toEqual([400, expect.stringMatching(words)]);
      expect((await row()).logo_id).toBeNull();
    });

    it('is not read at all if the upload is larger than the limit', async () => {
      const page = await upload(browser, LOGO, Buffer.alloc(1_200_000));
      expect([page.status, page.text.includes('The file must not be larger than 1 MB.')]).toEqual([
        413,
        true,
      ]);
    });

    it.each([
      ['no boundary', 'multipart/form-data', 'x'],
      ['no end', 'multipart/form-data; boundary=b', '--b\r\nContent-Disposition: form-data; name="a"'],
      [
        'too many parts',
        'multipart/form-data; boundary=b',
        `${'--b\r\nContent-Disposition: form-data; name="a"\r\n\r\nx\r\n'.repeat(40)}--b--\r\n`,
      ],
      ['no body', 'multipart/form-data; boundary=b', ''],
    ])('is refused in a form with %s', async (_what, type, body) => {
      const answer = await browser.open(LOGO, {
        method: 'POST',
        body: Buffer.from(body),
        headers: { 'content-type': type },
      });
      expect([400, 403]).toContain(answer.status);
      expect((await row()).logo_id).toBeNull();
    });

    it('is served as an image without script, for good, and shown on every page', async () => {
      expect(placeOf(await upload(browser, LOGO, await jpeg(80)))).toEqual([303, BRAND]);
      const { logo } = await home();
      expect(logo).toMatch(/^\/logos\/[0-9a-f]{64}$/);
      const answer = await fetch(new URL(logo!, service.url));
      expect(answer.status).toBe(200);
      expect(Object.fromEntries(answer.headers)).toMatchObject({
        'content-type': 'image/png',
        'x-content-type-options': 'nosniff',
        'content-security-policy': "default-src 'none'; sandbox",
        'cache-control': 'public, max-age=31536000, immutable',
      });
      const image = Buffer.from(await answer.arrayBuffer());
      expect(image.subarray(1, 4).toString()).toBe('PNG');
      expect(image.includes('SECRET-IN-EXIF')).toBe(false);
      const [event] = (await events()).slice(-1);
      expect(event).toMatchObject({ before: { logo: null }, after: { logo: logo!.slice('/logos/'.length) } });
      for (const instance of service.instances)
        await until('the instance shows it', async () => (await home(instance)).logo === logo);
    });

    it('is there for no other address', async () => {
      for (const path of ['x', '0'.repeat(64), 'A'.repeat(64), `${'0'.repeat(63)}%00`, '../brand']) {
        expect([path, [400, 404].includes((await service.http.get(`/logos/${path}`)).status)]).toEqual([
          path,
          true,
        ]);
      }
    });

    it('is uploaded while strangers hold uploads of theirs open, and users who are no operators', async () => {
      const { cookies } = await service.make.signedInNew();
      const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
      const form = 'Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 1000';
      const others = Array.from({ length: 8 }, (_, n) => {
        const socket = connect(service.settings.port, '127.0.0.1');
        const head = n % 2 === 0 ? '' : `Cookie: ${cookie}\r\n`;
        socket.write(`POST ${LOGO} HTTP/1.1\r\nHost: x\r\n${head}${form}\r\n\r\n--b`);
        return socket;
      });
      try {
        const answers = others.map(async (socket) => String((await once(socket, 'data'))[0]).slice(9, 12));
        expect(await Promise.all(answers)).toEqual(others.map((_, n) => (n % 2 === 0 ? '303' : '403')));
        expect(placeOf(await upload(browser, LOGO, await png()))).toEqual([303, BRAND]);
      } finally {
        for (const socket of others) socket.destroy();
      }
    });

    it('can be removed, and is purged a day later, unless it is shown again', async () => {
      const file = await png(72);
      await upload(browser, LOGO, file);
      const { logo } = await home();
      const page = await browser.open(LOGO);
      expect(placeOf(await browser.submit(page, `${LOGO}/remove`))).toEqual([303, BRAND]);
      expect((await home()).logo).toBeUndefined();
      const purged = async () => {
        await purgeOnly(service, 'logos');
        return (await service.http.get(logo!)).status === 404;
      };
      expect(await purged()).toBe(false);
      const age = () => service.database.query("UPDATE logos SET stored_at = now() - interval '2 days'");
      const client = await service.make.client();
      await age();
      await service.database.query('UPDATE clients SET logo_id = $1 WHERE id = $2', [
        logo!.slice(7),
        client.id,
      ]);
      expect(await purged()).toBe(false);
      await service.database.query('UPDATE clients SET logo_id = NULL WHERE id = $1', [client.id]);
      await upload(browser, LOGO, file);
      await browser.submit(await browser.open(LOGO), `${LOGO}/remove`);
      expect(await purged()).toBe(false);
      await age();
      expect(await purged()).toBe(true);
    });
  });
});
