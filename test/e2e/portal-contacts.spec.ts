import { auditEventsOn } from '../support/audit-events.js';
import { newId } from '#platform/secrets/ids.js';
import { enterPortal, type TestClient, until, useServiceWithMail } from '../support/spec.js';
import { BrowserSession, csrfTokenOn, type Page } from '../support/browser-session.js';
import { Webhooks, WEBHOOK_ENV, type TestEndpoint } from '../support/webhooks.js';

const PATH = '/portal/contacts';

describe('The contacts of a client', () => {
  const { service, smtp } = useServiceWithMail({
    env: { ...WEBHOOK_ENV, WEBHOOK_RETRY_SCHEDULE_SECONDS: '3600' },
  });
  const webhooks = Webhooks.setUp(service);
  let client: TestClient;
  let portal: BrowserSession;
  let email: string;
  let counter = 0;

  beforeEach(async () => {
    email = `ops${++counter}@partner.example`;
    client = await service.make.client();
    portal = await enterPortal(service, client);
  });

  const add = async (address = email): Promise<Page> => portal.fillIn(PATH, { email: address });
  const confirm = async (address = email): Promise<Page> => {
    const browser = new BrowserSession(service.url);
    return browser.fillIn(new URL((await smtp.mailTo(address)).link).pathname);
  };
  /** The form of the first contact. */
  const formOn = ({ html }: Page): string =>
    html.querySelector(`form[action^="${PATH}/"]`)!.getAttribute('action')!;
  const act = async (what: 'resend' | 'remove'): Promise<Page> => {
    const page = await portal.open(PATH);
    return portal.submit(page, formOn(page), { do: what });
  };
  const list = async (): Promise<string[]> =>
    (await portal.open(PATH)).html.querySelectorAll('.entries li').map((item) => item.text);
  const subjects = (address = email): string[] => smtp.to(address).map(({ subject }) => subject);

  it('are verified before they are used', async () => {
    expect((await add()).headers.get('location')).toBe(PATH);
    expect((await list())[0]).toContain('Waiting for confirmation');
    const mail = await smtp.mailTo(email);
    expect(mail.subject).toBe(`Confirm your address for ${client.name}`);
    expect((await confirm()).status).toBe(200);
    expect((await new BrowserSession(service.url).open(new URL(mail.link).pathname)).status).toBe(410);
    expect((await list())[0]).toContain('Confirmed');
    const actions = await auditEventsOn(service, client.id, 'client.contact');
    expect(actions.map(({ action }) => action)).toEqual(['client.contact_added', 'client.contact_verified']);
    expect(JSON.stringify(actions)).not.toContain(email);
  });

  it('are at most five, each once, also when added at once', async () => {
    const page = await portal.open(PATH);
    const answers = await Promise.all(
      Array.from({ length: 7 }, (_each, n) => portal.submit(page, PATH, { email: `${n}.${email}` })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([303, 303, 303, 303, 303, 409, 409]);
    await act('remove');
    const left = await list();
    expect(left).toHaveLength(4);
    const refused = await add(/\d\.ops\d+@partner\.example/.exec(left[0]!)![0].toUpperCase());
    expect([refused.status, refused.text.includes('a contact already')]).toEqual([409, true]);
  });

  it('are refused beside the field if they are no address', async () => {
    for (const address of ['', 'nobody', 'a\u202eb@mail.example']) {
      const page = await add(address);
      expect([page.status, page.html.querySelector('#email')!.getAttribute('aria-invalid')]).toEqual([
        400,
        'true',
      ]);
    }
  });

  it('get the link again, which ends the earlier one, at most five times an hour', async () => {
    await add();
    const first = new URL((await smtp.mailTo(email)).link).pathname;
    await act('resend');
    const second = new URL((await smtp.mailTo(email, 2)).link).pathname;
    expect((await new BrowserSession(service.url).open(first)).status).toBe(410);
    expect((await new BrowserSession(service.url).open(second)).status).toBe(200);
    for (let n = 3; n <= 5; n++) expect((await act('resend')).status).toBe(303);
    expect((await act('resend')).status).toBe(429);
    await act('remove');
    expect((await add()).status).toBe(429);
  });

  it('get no link again once they are confirmed, also if a page of before asks for it', async () => {
    await add();
    const page = await portal.open(PATH);
    await confirm();
    const answer = await portal.submit(page, formOn(page), { do: 'resend' });
    expect([answer.status, answer.text.includes('confirmed already')]).toEqual([409, true]);
    expect(subjects()).toHaveLength(1);
  });

  it('of another client are not visible, and not found', async () => {
    await add();
    const action = formOn(await portal.open(PATH));
    const other = await enterPortal(service, await service.make.client());
    const page = await other.open(PATH);
    expect(page.text).not.toContain(email);
    const form = { csrf_token: csrfTokenOn(page), do: 'remove' };
    const { status } = await other.open(action, { form, headers: { origin: service.url } });
    expect([403, 404]).toContain(status);
    expect(await list()).toHaveLength(1);
  });

  describe('get a mail', () => {
    let endpoint: TestEndpoint;
    let userId: string;

    beforeEach(async () => {
      for (const [address, isVerified] of [
        [email, true],
        [`unverified.${email}`, false],
      ])
        await service.database.query(
          'INSERT INTO client_contacts (id, client_id, email, email_key, verified_at) VALUES ($1, $2, $3, $3, CASE WHEN $4 THEN now() END)',
          [newId('cont'), client.id, address, isVerified],
        );
      endpoint = await webhooks.endpoint(client);
      userId = (await webhooks.consentedUser(client)).id;
    });

    const fail = async (count: number, status = 500): Promise<void> => {
      webhooks.answer(endpoint.path, status);
      const before = await attempts();
      for (let n = 0; n < count; n++) await webhooks.publish(userId);
      await until('all were attempted', async () => (await attempts()) === before + count);
    };
    /** The path of the link in the first mail. */
    const unsubscribeLink = async (): Promise<string> => {
      const list = (await smtp.mailTo(email)).headers.get('list') as { unsubscribe: { url: string } };
      return new URL(list.unsubscribe.url).pathname;
    };
    const attempts = async (): Promise<number> => {
      const [row] = await service.database.query<{ n: number }>(
        'SELECT coalesce(sum(delivered + failed), 0)::int AS n FROM webhook_endpoint_hours WHERE endpoint_id = $1',
        [endpoint.id],
      );
      return row!.n;
    };

    it('when 10 of the last 20 attempts have failed, then at most once a day', async () => {
      await fail(9);
      await fail(3, 200);
      expect(subjects()).toEqual([]);
      await fail(1);
      const mail = await smtp.mailTo(email);
      expect(mail.subject).toBe(`A webhook endpoint of ${client.name} is failing`);
      expect(mail.text).toContain(endpoint.url);
      await fail(5);
      const day = (hours: string): Promise<unknown> =>
        service.database.query(
          'UPDATE webhook_endpoints SET failing_told_at = failing_told_at - $2::interval WHERE id = $1',
          [endpoint.id, hours],
        );
      await day('23 hours');
      await fail(1);
      await day('1 hour');
      await fail(1);
      await smtp.mailTo(email, 2);
      expect([subjects().length, subjects(`unverified.${email}`)]).toEqual([2, []]);
    });

    it('when the service disabled an endpoint, as its owner does', async () => {
      await fail(1, 410);
      const mail = await smtp.mailTo(email);
      expect(mail.subject).toBe(`A webhook endpoint of ${client.name} was disabled`);
      expect(mail.text).toContain('responded with “410 Gone”');
    });

    it('that names the organisation behind the client, if it has one', async () => {
      await add(`early.${email}`);
      expect((await smtp.mailTo(`early.${email}`)).text).not.toContain('is by');
      await service.make.updateClient(client, { organisation: 'Planner GmbH' });
      await fail(1, 410);
      const words = `“${client.name}” is by Planner GmbH.`;
      expect((await smtp.mailTo(email)).text).toContain(words);
      await add(`late.${email}`);
      expect((await smtp.mailTo(`late.${email}`)).text).toContain(words);
    });

    it('which they can stop for themselves without a login, in the page of the link or by one click', async () => {
      await fail(1, 410);
      const path = await unsubscribeLink();
      const browser = new BrowserSession(service.url);
      const page = await browser.open(path);
      expect([page.status, page.text.includes(email), page.text.includes(client.name)]).toEqual([
        200,
        true,
        true,
      ]);
      expect(await list()).toHaveLength(2);
      const clicks = await Promise.all(
        [1, 2, 3].map(() =>
          fetch(service.url + path, {
            method: 'POST',
            body: new URLSearchParams({ 'List-Unsubscribe': 'One-Click' }),
          }),
        ),
      );
      expect(clicks.map(({ status }) => status).sort()).toEqual([200, 410, 410]);
      expect([(await list()).join(), (await browser.open(path)).status]).toEqual([
        expect.not.stringContaining(`${email} `),
        410,
      ]);
      const [removed] = await auditEventsOn(service, client.id, 'client.contact_removed');
      expect(removed).toMatchObject({ actor_type: 'user', actor_id: null });
    });

    it('and not by the link of another contact, or of one whose client is gone', async () => {
      await fail(1, 410);
      const [claim, mac] = (await unsubscribeLink()).split('cds_un_')[1]!.split('.') as [string, string];
      const others = await service.database.column<string>(
        'SELECT id FROM client_contacts WHERE client_id = $1 AND verified_at IS NULL',
        [client.id],
      );
      const forged = `/email/unsubscribe/cds_un_${Buffer.from(`client_contact ${others[0]}`).toString('base64url')}.${mac}`;
      const browser = new BrowserSession(service.url);
      expect((await browser.open(forged)).status).toBe(410);
      await service.make.deleteClient(client);
      expect((await browser.open(`/email/unsubscribe/cds_un_${claim}.${mac}`)).status).toBe(410);
    });
  });
});
