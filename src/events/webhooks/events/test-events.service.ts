import { Injectable } from '@nestjs/common';
import { notFound, validationFailed } from '#platform/http/problems/problem.js';
import { newId } from '#platform/secrets/ids.js';
import { WakeUps } from '../deliveries/wake-ups.service.js';
import type { EndpointEntity } from '../endpoints/endpoint.entity.js';
import { type EventTypeEntity, currentVersion } from '../event-types/event-type.entity.js';
import { EventTypesService } from '../event-types/event-types.service.js';
import { payloadOf } from './event.js';
import { EventsRepository } from './events.repository.js';
import { violation } from '#platform/http/problems/violation.js';

/** The user id in all tests and samples; no such user exists. */
const SAMPLE_USER_ID = 'user00000000000000000000000000';

/** The event id in every displayed sample; a test gets its own. */
const SAMPLE_EVENT_ID = 'evnt00000000000000000000000000';

/** The body of a sample of the type, with the current time. */
export const samplePayload = ({ name, sample }: EventTypeEntity, id = SAMPLE_EVENT_ID): string =>
  payloadOf(id, {
    type: name,
    timestamp: new Date().toISOString(),
    userId: SAMPLE_USER_ID,
    data: sample,
  });

/** Tests requested in the portal (contract §11): one attempt each. */
@Injectable()
export class TestEventsService {
  constructor(
    private readonly repository: EventsRepository,
    private readonly eventTypes: EventTypesService,
    private readonly wakeUps: WakeUps,
  ) {}

  /**
   * Sends the type's sample to the endpoint and returns the delivery's id. Throws a 400 problem for a type outside the scopes, and a 404
   * problem if the client was deleted at that moment.
   */
  async send(
    endpoint: EndpointEntity,
    typeName: string,
    clientScopes: string[],
    requestId?: string,
  ): Promise<string> {
    const allowed = await this.eventTypes.listFor(clientScopes);
    const type = allowed.find(({ name }) => name === typeName);
    if (!type) throw validationFailed({ type: [violation('not_receivable_type')] });
    const id = newId('evnt');
    const { version } = currentVersion(type)!;
    const event = { id, type: type.name, version, payload: samplePayload(type, id), requestId };
    const deliveryId = await this.repository.publishTest(event, endpoint.id, endpoint.clientId);
    if (deliveryId === undefined) throw notFound('There is no webhook endpoint with this id.');
    this.wakeUps.announce();
    return deliveryId;
  }
}
