import { until } from '../until.js';
import { NOW } from './fixed-values.js';
import type { Stage } from './stage.js';

/** What a partner reads with its token, and the notifications that an operator raises for it. */
export async function recordPartner(stage: Stage, userToken: string): Promise<void> {
  const { ada } = stage.cast;
  await stage.partner('listUsers', { query: { page_size: 2 } });
  await stage.partner('getUser', { path: { id: ada.id } });
  const forClients = { bearer: stage.partnerToken };
  await stage.partner('getOwnUser', { bearer: userToken }, { missing: forClients });
  await recordFeed(stage, userToken);
  await stage.partner('webhookPortal', {}, { forbidden: { bearer: userToken } });
}

/** The first event is the consent. */
async function recordFeed(stage: Stage, userToken: string): Promise<void> {
  const { http } = stage.service;
  const bearer = stage.partnerToken;
  await until(
    'there is an event',
    async () => ((await http.get('/v2/events', { bearer })).json as unknown[]).length > 0,
  );
  await stage.partner('listEvents', { query: { page_size: 1 } }, { forbidden: { bearer: userToken } });
}

export async function recordNotifications(stage: Stage): Promise<void> {
  const { owner, partner } = stage.cast;
  const json = {
    user_id: owner.id,
    client_id: partner.id,
    message_id: 'ERR9001',
    category: 'SERVICE',
    event_time: NOW,
    short_text_title: 'Maintenance on Sunday',
    short_text_body: 'Between 2:00 and 4:00 UTC, events arrive late.',
    external_link: 'https://status.example.com/',
    external_button_label: 'Status page',
  };
  await stage.operator('raiseNotification', 201, { json });
  await stage.operator('listAdminNotifications', 200, { query: { user_id: owner.id, page_size: 2 } });
  const [notification] = (await stage.partner('listNotifications', { query: { page_size: 2 } })).json as {
    id: string;
  }[];
  const path = { id: notification!.id };
  await stage.partner('getNotification', { path });
  await stage.partner('markNotification', { path, json: { read: true } });
}
