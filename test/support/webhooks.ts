import type { ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { ClientEntity } from '#access/clients/client.entity.js';
import type { UserEntity } from '#access/users/accounts/user.entity.js';
import { atEndOfFile } from './between-files.js';
import type { Answer, HttpOptions } from './http.js';
import { Receiver, type ReceivedRequest } from './receiver.js';
import type { TestService } from './test-service.js';
import { until } from './until.js';

/** The setting that webhooks to a loopback receiver need. */
export const WEBHOOK_ENV = { WEBHOOK_ALLOW_PRIVATE_ADDRESSES: 'true' };

export const TYPE = 'charging_session.created';

/** Publishes again and again, with the same key, until the event is accepted, as publishers do. */
export async function untilAccepted(publish: (attempt: number) => Promise<Answer>): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    const status = await publish(attempt).then(
      (answer) => answer.status,
      () => 0,
    );
    if (status === 202) return;
    if (status !== 0 && status < 500) throw new Error(`refused with ${status}`);
    await pause(50);
  }
}

/** An endpoint as its client got it, and its path at the receiver. */
export interface TestEndpoint {
  id: string;
  url: string;
  path: string;
  secret: string;
}

/** A row of `deliveries`, with the columns that tests read. */
export interface DeliveryRow {
  id: string;
  event_id: string;
  endpoint_id: string;
  state: string;
  cancel_reason: string | null;
  attempts: number;
  retries: number;
  lease_id: string | null;
  /** The seconds from now until the next attempt. */
  wait: number | null;
}

type Reply = (response: ServerResponse, request: ReceivedRequest, time: number) => void;

// Of this process, so that no later file has the path of a delivery that an earlier one has left.
let count = 0;

/** A receiver with any number of endpoints, distinguished by path, each answering as configured. */
export class Webhooks {
  private readonly replies = new Map<string, Reply>();
  private readonly times = new Map<string, number>();

  receiver!: Receiver;
  /** A token of an operator's client with every scope. */
  bearer!: string;

  private constructor(private readonly service: TestService) {}

  /** Stopped when the file has ended, if not before. */
  static async start(service: TestService): Promise<Webhooks> {
    const webhooks = new Webhooks(service);
    await webhooks.listen();
    return webhooks;
  }

  /** A receiver for the tests of a file; usable from `beforeAll` on. */
  static setUp(service: TestService): Webhooks {
    const webhooks = new Webhooks(service);
    beforeAll(() => webhooks.listen());
    return webhooks;
  }

  private async listen(): Promise<void> {
    this.receiver = await Receiver.start((response, request) => this.reply(response, request));
    atEndOfFile(() => this.receiver.stop());
    this.bearer = await this.service.make.adminToken();
  }

  stop(): Promise<void> {
    return this.receiver.stop();
  }

  /** Adds an endpoint of the client through the admin API; it answers 200 unless `reply` says otherwise. */
  async endpoint(
    client: ClientEntity,
    {
      types = [TYPE],
      enabled = true,
      reply,
      host,
    }: { types?: string[]; enabled?: boolean; reply?: number | Reply; host?: string } = {},
  ): Promise<TestEndpoint> {
    const path = `/hook/${++count}`;
    const url = this.receiver.url(path, host);
    if (reply !== undefined) this.answer(path, reply);
    const answer = await this.service.http.send(`/admin/clients/${client.id}/webhook_endpoints`, {
      bearer: this.bearer,
      json: { url, event_types: types, enabled },
    });
    if (answer.status !== 201) throw new Error(`no endpoint: ${answer.text}`);
    const { id, secret } = answer.json as { id: string; secret: string };
    return { id, url, path, secret };
  }

  /** Sets the response to requests to the path: a status, or a function that gets the number of the call. */
  answer(path: string, reply: number | Reply): void {
    const status = (code: number) => (response: ServerResponse) => void response.writeHead(code).end();
    this.replies.set(path, typeof reply === 'number' ? status(reply) : reply);
  }

  /** A user who has consented to all partner scopes of the clients. */
  /** Adds an endpoint to the client by the admin API: the answer. */
  add(client: Pick<ClientEntity, 'id'>, json: object): Promise<Answer> {
    return this.service.http.send(`/admin/clients/${client.id}/webhook_endpoints`, {
      bearer: this.bearer,
      json: { url: this.receiver.url(), event_types: [TYPE], ...json },
    });
  }

  change(endpointId: string, json: object): Promise<Answer> {
    const path = `/admin/webhook_endpoints/${endpointId}`;
    return this.service.http.send(path, { method: 'PATCH', bearer: this.bearer, json });
  }

  async consentedUser(...clients: ClientEntity[]): Promise<UserEntity> {
    const user = await this.service.make.user();
    for (const client of clients) await this.service.make.consent(client, user);
    return user;
  }

  publish(
    userId: string,
    fields: Record<string, unknown> = {},
    { key, ...options }: HttpOptions & { key?: string } = {},
  ): Promise<Answer> {
    const json = { type: TYPE, user_id: userId, timestamp: '2026-01-01T00:00:00Z', data: {}, ...fields };
    const headers = { ...options.headers, ...(key === undefined ? {} : { 'idempotency-key': key }) };
    return this.service.http.send('/v2/events', { bearer: this.bearer, json, ...options, headers });
  }

  /** Publishes an event and returns its only delivery. */
  async publishOne(userId: string, fields: Record<string, unknown> = {}): Promise<DeliveryRow> {
    const answer = await this.publish(userId, fields);
    if (answer.status !== 202) throw new Error(`not accepted: ${answer.text}`);
    const rows = await this.deliveriesOf(answer.json.id as string);
    if (rows.length !== 1) throw new Error(`${rows.length} deliveries`);
    return rows[0]!;
  }

  /** What the endpoint has received. */
  received(endpoint: TestEndpoint): ReceivedRequest[] {
    return this.receiver.requests.filter(({ url }) => url === endpoint.path);
  }

  receives(endpoint: TestEndpoint, times = 1): Promise<void> {
    return until(`the endpoint has received ${times}`, () => this.received(endpoint).length >= times);
  }

  deliveriesOf(eventId: string): Promise<DeliveryRow[]> {
    return this.service.database.query<DeliveryRow>(`${SELECT} WHERE event_id = $1 ORDER BY id`, [eventId]);
  }

  async delivery(id: string): Promise<DeliveryRow> {
    return (await this.service.database.query<DeliveryRow>(`${SELECT} WHERE id = $1`, [id]))[0]!;
  }

  /** Waits until the delivery has had that many attempts and nobody holds its lease. */
  async attempted(id: string, attempts = 1): Promise<DeliveryRow> {
    await until(`the delivery has had ${attempts} attempts`, async () => {
      const row = await this.delivery(id);
      return row.attempts >= attempts && row.lease_id === null;
    });
    return this.delivery(id);
  }

  /** Waits until the delivery is no longer pending. */
  async finished(id: string): Promise<DeliveryRow> {
    await until('the delivery is finished', async () => (await this.delivery(id)).state !== 'pending');
    return this.delivery(id);
  }

  /** Makes the next attempt of a delivery due. */
  async makeDue(id: string): Promise<void> {
    await this.service.database.query(
      "UPDATE deliveries SET next_attempt_at = now(), due_at = now() WHERE id = $1 AND state = 'pending' AND lease_id IS NULL",
      [id],
    );
  }

  private reply(response: ServerResponse, request: ReceivedRequest): void {
    const time = (this.times.get(request.url) ?? 0) + 1;
    this.times.set(request.url, time);
    (this.replies.get(request.url) ?? (() => void response.end('ok')))(response, request, time);
  }
}

const SELECT = `SELECT id, event_id, endpoint_id, state, cancel_reason, attempts, retries, lease_id,
  extract(epoch FROM next_attempt_at - now())::float8 AS wait FROM deliveries`;
