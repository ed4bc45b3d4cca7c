import { setTimeout as pause } from 'node:timers/promises';
import { DATA, ENDPOINTS, fillQueue, TYPE } from '../delivery-queue.mjs';
import { load } from '../dist.mjs';
import { basic } from '../http-text.mjs';
import { forgetPeak, peakMemoryMb, processorMs } from '../machine.mjs';
import { median } from '../measure.mjs';
import { startReceiver } from '../receiver.mjs';
import { sha256 } from '../setting.mjs';

let operators = 200;
const WARM_UP = 2_000;
const WRITTEN_WITHIN_MS = 30_000;

/**
 * W8: deliveries out of a full queue to twenty endpoints of one receiver, compared with a loop that only posts as many bodies,
 * without reading or writing anything.
 */
export async function measureDeliveries(stand, { options, say }) {
  const { service, floor } = stand;
  const receiver = await startReceiver();
  try {
    const queue = await makeQueue(stand, receiver.port);
    const sides = {
      floor: (number) =>
        measureOnce(floor, receiver, number, () => postFromFloor(floor, receiver.port, queue, number)),
      ours: (number) => measureOnce(service, receiver, number, () => deliver(stand, queue, number)),
    };
    const rounds = { floor: [], ours: [] };
    for (const side of [floor, service]) forgetPeak(side.pid);
    for (const measured of Object.values(sides)) await measured(Math.min(WARM_UP, options.deliveries));
    for (let round = 1; round <= options.rounds; round++) {
      for (const [side, measured] of Object.entries(sides))
        rounds[side].push(await measured(options.deliveries));
      say(`  round ${round}: floor ${described(rounds.floor)}, ours ${described(rounds.ours)}`);
    }
    return {
      ...{ id: 'W8', name: 'event deliveries' },
      floor: { ...medians(rounds.floor), memory: peakMemoryMb(floor.pid) },
      ours: { ...medians(rounds.ours), memory: peakMemoryMb(service.pid) },
    };
  } finally {
    receiver.end();
  }
}

async function measureOnce(server, receiver, number, send) {
  const { finished } = await receiver.expect(number);
  const before = processorMs(server.pid);
  const sent = send();
  // A failure to send must reject: the missing delivery would never arrive.
  const milliseconds = await Promise.race([finished, sent.then(() => finished)]);
  await sent;
  return {
    rate: (number * 1000) / milliseconds,
    processor: (processorMs(server.pid) - before) / number,
  };
}

/** Fills the queue and waits until every outcome is recorded. */
async function deliver({ database: { query, url } }, queue, number) {
  const delivered = async () =>
    Number((await query("SELECT count(*) FROM deliveries WHERE state = 'delivered'"))[0].count);
  const before = await delivered();
  await fillQueue(url, queue, number);
  for (const begun = performance.now(); (await delivered()) < before + number;) {
    if (performance.now() - begun > WRITTEN_WITHIN_MS)
      throw new Error('W8: not everything was delivered in time');
    await pause(250);
  }
}

async function postFromFloor(floor, port, { payload }, number) {
  const body = JSON.stringify({ port, payload, number });
  const { status } = await fetch(`${floor.url}/deliveries`, { method: 'POST', body });
  if (status !== 200) throw new Error(`W8, floor: ${status}`);
}

/** Creates endpoints and an event as the company would: with an operator's client, over HTTP. */
export async function makeQueue({ database: { query }, setting, service }, port) {
  const { newSecret } = await load('platform/secrets/tokens.js');
  const operator = { id: `clnt${String(operators++).padStart(26, '0')}`, secret: newSecret('clientSecret') };
  await query(
    `INSERT INTO clients (id, name, type, grant_types, scopes, redirect_uris, owner_id, company_service)
     VALUES ($1, 'Operator', 'confidential', '{client_credentials}', '{admin:write,event:publish}', '{}', $2, true)`,
    [operator.id, setting.owner],
  );
  await query('INSERT INTO client_secrets (client_id, digest) VALUES ($1, $2)', [
    operator.id,
    sha256(operator.secret),
  ]);
  const send = async (path, authorization, type, body, expected) => {
    const headers = { authorization, 'content-type': type };
    const answer = await fetch(service.url + path, { method: 'POST', headers, body });
    const text = await answer.text();
    if (answer.status !== expected) throw new Error(`W8, ${path}: ${answer.status} ${text}`);
    return JSON.parse(text);
  };
  const form = ['application/x-www-form-urlencoded', 'grant_type=client_credentials'];
  const { access_token: token } = await send('/o/token', basic(operator), ...form, 200);
  const sendJson = (path, content) =>
    send(
      path,
      `Bearer ${token}`,
      'application/json',
      JSON.stringify(content),
      path === '/v2/events' ? 202 : 201,
    );
  const [user] = setting.users;
  const endpointIds = [];
  for (let n = 0; n < ENDPOINTS; n++) {
    const endpoint = { url: `http://127.0.0.1:${port}/${n}`, event_types: [TYPE] };
    endpointIds.push((await sendJson(`/admin/clients/${user.client.id}/webhook_endpoints`, endpoint)).id);
  }
  // Nobody subscribes to this event type, so the queue holds only what is inserted here.
  const event = { type: 'vehicle.created', user_id: user.id, timestamp: '2026-01-01T00:00:00Z', data: DATA };
  const { id: eventId } = await sendJson('/v2/events', event);
  await query('UPDATE events SET type = $2 WHERE id = $1', [eventId, TYPE]);
  const [{ payload }] = await query('SELECT payload FROM events WHERE id = $1', [eventId]);
  return { endpointIds, clientId: user.client.id, eventId, payload };
}

const medians = (rounds) => ({
  rate: median(rounds.map((round) => round.rate)),
  processor: median(rounds.map((round) => round.processor)),
});
const described = (rounds) => `${Math.round(rounds.at(-1).rate)}/s`;
