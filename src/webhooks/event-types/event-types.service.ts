import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { EventTypeEntity } from './event-type.entity.js';

/** The catalogue of event types (contract §10). */
@Injectable()
export class EventTypesService {
  constructor(@InjectRepository(EventTypeEntity) private readonly types: Repository<EventTypeEntity>) {}

  /** The whole catalogue, by name. */
  list(): Promise<EventTypeEntity[]> {
    return this.types.find({ order: { name: 'ASC' } });
  }

  /** The types that a client with these scopes may subscribe to, by name. */
  async listFor(scopes: string[]): Promise<EventTypeEntity[]> {
    return (await this.list()).filter(({ scope }) => scope === null || scopes.includes(scope));
  }
}
