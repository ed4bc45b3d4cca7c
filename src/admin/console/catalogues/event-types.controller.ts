import { EventTypesService } from '../../../webhooks/event-types/event-types.service.js';
import { ConsolePages, ConsoleGet, Visit } from '../console-pages.decorator.js';
import type { ConsoleAnswer, ConsoleVisit } from '../console-visit.js';
import { eventTypesPage } from './event-types.page.js';

/** The catalogue of event types in the console. */
@ConsolePages('event-types')
export class ConsoleEventTypesController {
  constructor(private readonly eventTypes: EventTypesService) {}

  @ConsoleGet()
  async list(@Visit() visit: ConsoleVisit): Promise<ConsoleAnswer> {
    return { html: eventTypesPage({ frame: visit.frame, types: await this.eventTypes.list() }) };
  }
}
