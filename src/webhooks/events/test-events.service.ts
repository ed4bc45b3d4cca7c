import { Injectable } from '@nestjs/common';
import { validationFailed } from '../../http/problem.js';
import { newId } from '../../secrets/ids.js';
import { WakeUps } from '../deliveries/wake-ups.service.js';
import type { EndpointEntity } from '../endpoints/endpoint.entity.js';
import type { EventTypeEntity } from '../event-types/event-type.entity.js';
import { EventTypesService } from '../event-types/event-types.service.js';
import { payloadOf } from './event.js';
import { EventsRepository } from './events.repository.js';

/** The user of every test and sample: made up, and nobody's. */
export const SAMPLE_USER_ID = 'user00000000000000000000000000';

/** The body that a sample of the type has at this moment. */
export const samplePayload = (type: EventTypeEntity): string =>
  payloadOf(type.name, new Date().toISOString(), SAMPLE_USER_ID, type.sample);

/** Tests that somebody asks for in the portal (contract §11): one attempt each. */
@Injectable()
export class TestEventsService {
  constructor(
    private readonly repository: EventsRepository,
    private readonly eventTypes: EventTypesService,
    private readonly wakeUps: WakeUps,
  ) {}

  /** Sends the type's sample to the endpoint; the id of the delivery. Throws a 400 problem for a type outside the scopes. */
  async send(endpoint: EndpointEntity, typeName: string, clientScopes: string[]): Promise<string> {
    const allowed = await this.eventTypes.listFor(clientScopes);
    const type = allowed.find(({ name }) => name === typeName);
    if (!type) throw validationFailed({ type: ['is not an event type that this client may receive'] });
    const event = { id: newId('evnt'), type: type.name, payload: samplePayload(type) };
    const deliveryId = await this.repository.publishTest(event, endpoint.id, endpoint.clientId);
    this.wakeUps.announce();
    return deliveryId;
  }
}
