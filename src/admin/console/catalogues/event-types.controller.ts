import { Context } from '../../../http/page-routes/page-context.js';
import { EventTypesService } from '../../../webhooks/event-types/event-types.service.js';
import { ConsolePages, ConsoleGet } from '../console-pages.decorator.js';
import type { ConsoleAnswer, ConsoleContext } from '../console-context.js';
import { eventTypesPage } from './event-types.page.js';

/** The catalogue of event types in the console. */
@ConsolePages('event-types')
export class ConsoleEventTypesController {
  constructor(private readonly eventTypes: EventTypesService) {}

  @ConsoleGet()
  async list(@Context() context: ConsoleContext): Promise<ConsoleAnswer> {
    return {
      html: eventTypesPage({ layoutProps: context.layoutProps, types: await this.eventTypes.list() }),
    };
  }
}
