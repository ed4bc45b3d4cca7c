import { Injectable } from '@nestjs/common';
import { notFound } from '#platform/http/problems/problem.js';
import { type EventTypeEntity, currentVersion, type VersionedEventType } from './event-type.entity.js';
import { EventTypesRepository } from './event-types.repository.js';

/** The catalogue of event types (contract §10, §21). */
@Injectable()
export class EventTypesService {
  constructor(private readonly repository: EventTypesRepository) {}

  /** The whole catalogue, by name. */
  list(): Promise<VersionedEventType[]> {
    return this.repository.list();
  }

  /** The types that services publish, by name. */
  listOfServices(): Promise<VersionedEventType[]> {
    return this.repository.listOfServices();
  }

  /** The types that can be published or come from this service, by name. */
  async listPublic(): Promise<VersionedEventType[]> {
    return (await this.list()).filter((type) => currentVersion(type) !== undefined);
  }

  /** The types that a client with these scopes may subscribe to, by name. */
  async listFor(scopes: string[]): Promise<VersionedEventType[]> {
    return (await this.listPublic()).filter(({ scope }) => scope === null || scopes.includes(scope));
  }

  /** The type; throws a 404 problem. */
  async get(name: string): Promise<VersionedEventType> {
    const type = (await this.list()).find((each) => each.name === name);
    if (!type) throw notFound('There is no event type with this name.');
    return type;
  }

  /** These types, locked so that their scopes do not change until the transaction ends. */
  hold(names: string[]): Promise<EventTypeEntity[]> {
    return this.repository.hold(names);
  }
}
