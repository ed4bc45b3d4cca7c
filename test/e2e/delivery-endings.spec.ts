import type { ServerResponse } from 'node:http';
import { Webhook } from 'standardwebhooks';
import { EndpointsService } from '#events/webhooks/endpoints/endpoints.service.js';
import { PARTNER_SCOPES } from '../support/factory.js';
import { setUpFailingEndpoint } from '../support/failing-endpoint.js';
import { until } from '../support/until.js';

interface NotificationRow {
  user_id: string;
  client_id: string;
  category: string;
  message_id: string;
  short_text_body: string;
}

describe('After a failed attempt,', () => {
  const { service, webhooks, client, user, endpoint, admin, query } = setUpFailingEndpoint('1000');

  const endpointView = async (): Promise<Record<string, unknown>> =>
    (await admin('GET', `/admin/webhook_endpoints/${endpoint.id}`)).json as Record<string, unknown>;
  const setEnabled = (enabled: boolean) => service.make.updateClient(client, { enabled });
  const failedOnce = async () => webhooks.attempted((await webhooks.publishOne(user.id)).id);

  const ENDINGS: [what: string, reason: string, end: () => Promise<unknown>][] = [
    ['the consent was withdrawn', 'consent_withdrawn', () => service.make.revokeConsent(client, user)],
    [
      'the consent lost the scope',
      'consent_withdrawn',
      () => service.make.consent(client, user, ['vehicle:read']),
    ],
    ['the user was disabled', 'consent_withdrawn', () => service.make.setEnabled(user, false)],
    [
      'the client lost the scope',
      'scope_missing',
      () => query("UPDATE clients SET scopes = '{vehicle:read}' WHERE id = $1", [client.id]),
    ],
    ['the client was disabled', 'client_disabled', () => setEnabled(false)],
    [
      'the endpoint was disabled',
      'endpoint_disabled',
      () => admin('PATCH', `/admin/webhook_endpoints/${endpoint.id}`, { enabled: false }),
    ],
    [
      'the endpoint was deleted',
      'endpoint_deleted',
      () => admin('DELETE', `/admin/webhook_endpoints/${endpoint.id}`),
    ],
  ];

  it.each(ENDINGS)(
    'a delivery is cancelled without another request if %s (%s)',
    async (_what, reason, end) => {
      const { id } = await failedOnce();
      await end();
      await webhooks.makeDue(id);
      const row = await webhooks.finished(id);
      expect(row).toMatchObject({
        state: 'cancelled',
        cancel_reason: reason,
        attempts: 1,
        wait: null,
        lease_id: null,
      });
      expect(webhooks.received(endpoint)).toHaveLength(1);
      const shown = await admin('GET', `/admin/deliveries/${id}`);
      expect(shown.json).toMatchObject({ state: 'cancelled', cancel_reason: reason, next_attempt_at: null });
      expect(shown.json.finished_at).toMatch(/Z$/);
    },
  );

  it('a resent delivery is checked again for everything it depends on', async () => {
    const { id } = await failedOnce();
    await service.make.revokeConsent(client, user);
    await webhooks.makeDue(id);
    await webhooks.finished(id);
    expect((await admin('POST', `/admin/deliveries/${id}/resend`)).status).toBe(202);
    expect(await webhooks.finished(id)).toMatchObject({ state: 'cancelled', attempts: 1 });
    expect(webhooks.received(endpoint)).toHaveLength(1);
    await service.make.consent(client, user, PARTNER_SCOPES);
    webhooks.answer(endpoint.path, 200);
    expect((await admin('POST', `/admin/deliveries/${id}/resend`)).status).toBe(202);
    expect(await webhooks.finished(id)).toMatchObject({
      state: 'delivered',
      cancel_reason: null,
      attempts: 2,
    });
  });

  it('the next one uses the current URL of the endpoint', async () => {
    const { id } = await failedOnce();
    const url = webhooks.receiver.url('/moved');
    await admin('PATCH', `/admin/webhook_endpoints/${endpoint.id}`, { url });
    await webhooks.makeDue(id);
    expect(await webhooks.finished(id)).toMatchObject({ state: 'delivered' });
    const moved = webhooks.receiver.requests.filter((request) => request.url === '/moved');
    expect(moved.map(({ headers }) => headers['webhook-id'])).toEqual([id]);
    new Webhook(endpoint.secret).verify(moved[0]!.body, moved[0]!.headers as Record<string, string>);
  });

  describe('an endpoint', () => {
    const notifications = () =>
      query<NotificationRow>("SELECT * FROM notifications WHERE message_id = 'ERR3001' AND client_id = $1", [
        client.id,
      ]);
    const audits = () =>
      query<{ actor_type: string; before: unknown; after: unknown }>(
        "SELECT actor_type, before, after FROM audit_events WHERE action = 'webhook_endpoint.disabled' AND subject_id = $1",
        [endpoint.id],
      );
    const expectDisabled = async (reason: string) => {
      await until('the endpoint is disabled', async () => (await endpointView()).enabled === false);
      expect(await endpointView()).toMatchObject({ enabled: false, disabled_reason: reason });
      expect(await notifications()).toMatchObject([
        { user_id: client.ownerId, client_id: client.id, category: 'ACTIONABLE' },
      ]);
      expect((await notifications())[0]!.short_text_body).toContain(endpoint.url);
      expect(await audits()).toEqual([
        {
          actor_type: 'service',
          before: { enabled: true },
          after: { enabled: false, disabled_reason: reason },
        },
      ]);
    };

    it('that answers 410 is disabled immediately, its owner is notified once, and pending deliveries are cancelled', async () => {
      const waiting = await failedOnce();
      // All deliveries are in progress before the first is answered.
      const held: ServerResponse[] = [];
      webhooks.answer(endpoint.path, (response) => {
        if (held.push(response) === 4) for (const each of held) each.writeHead(410).end();
      });
      const gone = await Promise.all(Array.from({ length: 4 }, () => webhooks.publishOne(user.id)));
      await expectDisabled('gone');
      await Promise.all(gone.map(({ id }) => webhooks.finished(id)));
      expect((await webhooks.publish(user.id)).json.deliveries).toBe(0);
      await webhooks.makeDue(waiting.id);
      expect(await webhooks.finished(waiting.id)).toMatchObject({ cancel_reason: 'endpoint_disabled' });
      const states = await Promise.all(gone.map(({ id }) => webhooks.delivery(id)));
      expect(states.map(({ state }) => state)).toEqual(['failed', 'failed', 'failed', 'failed']);
      await expectDisabled('gone');
    });

    it('that was disabled for a 410 can be enabled again', async () => {
      webhooks.answer(endpoint.path, 410);
      await webhooks.finished((await webhooks.publishOne(user.id)).id);
      await expectDisabled('gone');
      const enabled = await admin('PATCH', `/admin/webhook_endpoints/${endpoint.id}`, { enabled: true });
      expect(enabled.json).toMatchObject({ enabled: true, disabled_reason: null, disabled_at: null });
      webhooks.answer(endpoint.path, 200);
      expect(await webhooks.finished((await webhooks.publishOne(user.id)).id)).toMatchObject({
        state: 'delivered',
      });
    });

    it('that was moved stays enabled if its former URL answers 410 afterwards', async () => {
      const held: ServerResponse[] = [];
      webhooks.answer(endpoint.path, (response) => void held.push(response));
      const { id } = await webhooks.publishOne(user.id);
      await until('it is in progress', () => held.length === 1);
      const url = webhooks.receiver.url('/moved');
      await admin('PATCH', `/admin/webhook_endpoints/${endpoint.id}`, { url });
      held[0]!.writeHead(410).end();
      expect(await webhooks.finished(id)).toMatchObject({ state: 'failed', attempts: 1 });
      const next = await webhooks.publishOne(user.id);
      expect(await webhooks.finished(next.id)).toMatchObject({ state: 'delivered' });
      expect(await endpointView()).toMatchObject({ enabled: true, url, disabled_reason: null });
      expect([await notifications(), await audits()]).toEqual([[], []]);
    });

    const ageFailing = (by: string) =>
      query('UPDATE webhook_endpoints SET failing_since = now() - $2::interval WHERE id = $1', [
        endpoint.id,
        by,
      ]);

    it('is not disabled before it has failed for five days, nor after a success in between', async () => {
      await failedOnce();
      expect((await endpointView()).failing_since).toMatch(/Z$/);
      await ageFailing('4 days 23 hours');
      await failedOnce();
      expect(await endpointView()).toMatchObject({ enabled: true });
      webhooks.answer(endpoint.path, 200);
      await ageFailing('20 days');
      await webhooks.finished((await webhooks.publishOne(user.id)).id);
      expect(await endpointView()).toMatchObject({ enabled: true, failing_since: null });
      webhooks.answer(endpoint.path, 500);
      await failedOnce();
      expect(await endpointView()).toMatchObject({
        enabled: true,
        failing_since: expect.any(String) as string,
      });
      expect(await notifications()).toEqual([]);
    });

    it('is not disabled if a success was written since another instance found that it has failed for five days', async () => {
      await failedOnce();
      await ageFailing('20 days');
      webhooks.answer(endpoint.path, 200);
      await webhooks.finished((await webhooks.publishOne(user.id)).id);
      const disable = () => service.app.get(EndpointsService).disable(endpoint.id, endpoint.url, 'failing');
      await disable();
      expect(await endpointView()).toMatchObject({ enabled: true, failing_since: null });
      expect([await notifications(), await audits()]).toEqual([[], []]);
      await ageFailing('20 days');
      await disable();
      await expectDisabled('failing');
    });

    it('that was moved is not disabled for the days in which its former URL failed', async () => {
      const { id } = await failedOnce();
      await ageFailing('20 days');
      webhooks.answer('/moved-too', 500);
      const moved = { url: webhooks.receiver.url('/moved-too') };
      await admin('PATCH', `/admin/webhook_endpoints/${endpoint.id}`, moved);
      expect(await endpointView()).toMatchObject({ failing_since: null });
      await webhooks.makeDue(id);
      await webhooks.attempted(id, 2);
      // Written after what the first attempt at the new URL led to.
      await failedOnce();
      await ageFailing('4 days');
      const same = { ...moved, description: 'Moved' };
      await admin('PATCH', `/admin/webhook_endpoints/${endpoint.id}`, same);
      const kept = await endpointView();
      expect(kept).toMatchObject({ enabled: true, ...same, failing_since: expect.any(String) as string });
      expect(await notifications()).toEqual([]);
    });

    it('that has failed for five days is disabled, and its owner is notified once', async () => {
      await failedOnce();
      await ageFailing('5 days');
      const users = await Promise.all([1, 2, 3].map(() => webhooks.consentedUser(client)));
      // No delivery is answered before all are published: the first failure stops the fan-out to this endpoint.
      const held: ServerResponse[] = [];
      webhooks.answer(endpoint.path, (response) => void held.push(response));
      const rows = await Promise.all(users.map(({ id }) => webhooks.publishOne(id)));
      webhooks.answer(endpoint.path, 500);
      for (const response of held) response.writeHead(500).end();
      await expectDisabled('failing');
      for (const { id } of rows) {
        await webhooks.makeDue(id);
        await until('it is out of hand', async () => (await webhooks.delivery(id)).lease_id === null);
      }
      await expectDisabled('failing');
      const enabled = await admin('PATCH', `/admin/webhook_endpoints/${endpoint.id}`, { enabled: true });
      expect(enabled.json).toMatchObject({ enabled: true, disabled_reason: null, failing_since: null });
      await failedOnce();
      expect(await endpointView()).toMatchObject({ enabled: true });
    });
  });
});
