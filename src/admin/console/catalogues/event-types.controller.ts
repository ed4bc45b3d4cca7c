import { EventTypesService } from '../../../webhooks/event-types/event-types.service.js';
import type { ConsoleAnswer } from '../console-context.js';
import { ConsolePages, ConsoleGet } from '../console-pages.decorator.js';
import { eventTypesPage } from './event-types.page.js';

/** The catalogue of event types in the console. */
@ConsolePages('event-types')
export class ConsoleEventTypesController {
  constructor(private readonly eventTypes: EventTypesService) {}

  @ConsoleGet('', 'not asked', 'viewer')
  async list(): Promise<ConsoleAnswer> {
    return { page: eventTypesPage({ types: await this.eventTypes.list() }) };
  }
}
