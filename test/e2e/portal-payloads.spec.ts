import { SERVICE_ACTOR } from '#records/audit/audit.service.js';
import { ConsentsService } from '#access/consents/consents.service.js';
import { madeForEach, TYPE, useSharedService, WEBHOOK_ENV, Webhooks } from '../support/spec.js';
import { enterPortal, makeEndpoint, seedDelivery, wordsOf, type SeededDelivery } from '../support/portal.js';

const DATA = 'where-the-car-stands';
const SIGNATURE = `v1,${'S'.repeat(43)}=`;

/* A payload is shown if an attempt was delivered, or if there is an active consent with the scope of its type (contract §11.4). */
describe('The portal shows a payload', () => {
  const service = useSharedService({ env: WEBHOOK_ENV });
  const webhooks = Webhooks.setUp(service);

  const client = madeForEach(() => service.make.client());
  const user = madeForEach(() => webhooks.consentedUser(client));
  const endpoint = madeForEach(() =>
    makeEndpoint(service, client, {
      url: webhooks.receiver.url(),
      eventTypes: [TYPE, 'user.consent_revoked'],
    }),
  );
  const portal = madeForEach(() => enterPortal(service, client));

  const disconnect = () => service.app.get(ConsentsService).revoke(client.id, user.id, SERVICE_ACTOR);
  /** A delivery after its first attempt, which failed unless said otherwise. */
  const sent = (state: SeededDelivery['state'] = 'pending'): Promise<string> =>
    seedDelivery(service, endpoint, {
      state,
      type: TYPE,
      userId: user.id,
      data: { note: DATA },
      attempts: [{ status: state === 'delivered' ? 200 : 500, signature: SIGNATURE }],
    });
  const received = (id: string) =>
    webhooks.receiver.requests.filter(({ headers }) => headers['webhook-id'] === id);
  const pathOf = (id: string) => `/portal/deliveries/${id}`;
  /** Checks every way in which the payload could be shown, or a guess at it be confirmed. */
  const expectHidden = async (delivery: string): Promise<void> => {
    const page = await portal.open(pathOf(delivery));
    expect([page.status, wordsOf(page).includes('The payload is not shown')]).toEqual([200, true]);
    for (const path of [pathOf(delivery), `/portal/verify?delivery=${delivery}`, '/portal/deliveries']) {
      const { status, text } = await portal.open(path);
      expect([path, status, text.includes(DATA)]).toEqual([path, 200, false]);
      expect(text).not.toContain(SIGNATURE);
    }
  };

  it('that never arrived only while the user shares the data', async () => {
    const delivery = await sent();
    expect((await portal.open(pathOf(delivery))).text).toContain(DATA);
    await disconnect();
    await expectHidden(delivery);
    await webhooks.makeDue(delivery);
    expect(await webhooks.finished(delivery)).toMatchObject({ state: 'cancelled' });
    await expectHidden(delivery);
    await service.make.consent(client, user, ['vehicle:read']);
    await expectHidden(delivery);
    await service.make.consent(client, user, ['charging_session:read']);
    expect((await portal.open(pathOf(delivery))).text).toContain(DATA);
  });

  it('that never arrived only while the user is enabled', async () => {
    const delivery = await sent();
    await service.make.setEnabled(user, false);
    await expectHidden(delivery);
    await service.make.setEnabled(user, true);
    expect((await portal.open(pathOf(delivery))).text).toContain(DATA);
  });

  it('that never arrived only while the user is connected, even after a resend or a recovery', async () => {
    const delivery = await sent();
    const page = await portal.open(pathOf(delivery));
    await disconnect();
    expect((await portal.submit(page, `${pathOf(delivery)}/resend`)).status).toBe(303);
    await webhooks.finished(delivery);
    await expectHidden(delivery);
    await service.database.query(
      "UPDATE deliveries SET state = 'failed', cancel_reason = NULL WHERE id = $1",
      [delivery],
    );
    await portal.fillIn(`/portal/endpoints/${endpoint.id}/recover`);
    await webhooks.finished(delivery);
    await expectHidden(delivery);
    expect(received(delivery)).toEqual([]);
  });

  it('that never arrived only if the client still holds the scope', async () => {
    const delivery = await sent();
    await service.database.query("UPDATE clients SET scopes = '{vehicle:read}' WHERE id = $1", [client.id]);
    await expectHidden(delivery);
  });

  it('that arrived, whatever happens to the consent and to later attempts', async () => {
    const delivery = await sent('delivered');
    await disconnect();
    expect((await portal.open(pathOf(delivery))).text).toContain(DATA);
    await service.database.query(
      "UPDATE deliveries SET state = 'cancelled', cancel_reason = 'consent_withdrawn' WHERE id = $1",
      [delivery],
    );
    expect((await portal.open(pathOf(delivery))).text).toContain(DATA);
  });

  it('of a test, and of an event that needs no consent', async () => {
    await disconnect();
    const [row] = await service.database.query<{ id: string }>(
      "SELECT id FROM deliveries WHERE endpoint_id = $1 AND event_type = 'user.consent_revoked'",
      [endpoint.id],
    );
    expect(wordsOf(await portal.open(pathOf(row!.id)))).toContain('"user.consent_revoked"');
    const test = await portal.fillIn(`/portal/endpoints/${endpoint.id}/test`, { type: TYPE });
    expect(wordsOf(await portal.open(test.headers.get('location')!))).toContain('"plugged_in"');
  });

  it('only directly: the checker does not compare a hidden payload with pasted text', async () => {
    const delivery = await sent();
    const body = await service.database.value<string>(
      'SELECT payload FROM events WHERE id = (SELECT event_id FROM deliveries WHERE id = $1)',
      [delivery],
    );
    await disconnect();
    const guess = async (guessed: string) => {
      const form = await portal.open('/portal/verify');
      const fields = {
        'webhook-id': delivery,
        'webhook-timestamp': String(Math.floor(Date.now() / 1000)),
        'webhook-signature': `v1,${'A'.repeat(43)}=`,
        endpoint: endpoint.id,
        body: guessed,
      };
      const page = await portal.submit(form, '/portal/verify#checker', fields);
      return page.html.querySelector('.outcome')!.text;
    };
    expect(await guess(body)).toBe(await guess(`${body.slice(0, -2)}}}`));
  });

  it('to operators in any case', async () => {
    const delivery = await sent();
    await disconnect();
    const shown = await service.http.get(`/admin/deliveries/${delivery}`, { bearer: webhooks.bearer });
    expect(shown.json).toMatchObject({ payload: { data: { note: DATA } } });
  });
});
