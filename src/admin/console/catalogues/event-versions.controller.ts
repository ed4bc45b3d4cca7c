import { Param } from '@nestjs/common';
import { Context } from '../../../http/page-routes/page-context.js';
import { notFound } from '../../../http/problems/problem.js';
import { EventCatalogueService } from '../../../webhooks/event-types/event-catalogue.service.js';
import { EventTypesService } from '../../../webhooks/event-types/event-types.service.js';
import { EventTypeVersionDto } from '../../api/event-types/admin-event-types.dto.js';
import type { ConsoleAnswer, ConsoleContext } from '../console-context.js';
import { ConsoleGet, ConsolePages, ConsolePost } from '../console-pages.decorator.js';
import { formValue } from '../form-attempt.js';
import { eventTypePath, eventVersionFormPage, type EventVersionFields } from './event-types.page.js';
import { parsedJson } from './parsed-json.js';
import type { VersionedEventType } from '../../../webhooks/event-types/versioned-event-type.js';

/** The versions of an event type in the console: the next one, and those that nothing was published with. */
@ConsolePages('event-types')
export class ConsoleEventVersionsController {
  constructor(
    private readonly types: EventTypesService,
    private readonly catalogue: EventCatalogueService,
  ) {}

  @ConsoleGet(':type/versions/:version', 'asked')
  async ask(@Param('type') name: string, @Param('version') number: string): Promise<ConsoleAnswer> {
    const { type, version } = await this.find(name, number);
    const present = type.versions.find((each) => each.version === version);
    const schema = (present ?? type.versions.at(-1))?.schema ?? { type: 'object' };
    const fields = {
      schema: JSON.stringify(schema, null, 2),
      sample: '',
      state: present?.draft ? 'draft' : 'published',
    };
    return { page: eventVersionFormPage({ name, version, fields }) };
  }

  @ConsolePost(':type/versions/:version', 'asked in the form')
  async save(
    @Context() context: ConsoleContext,
    @Param('type') name: string,
    @Param('version') number: string,
  ): Promise<ConsoleAnswer> {
    const { version } = await this.find(name, number);
    const value = (field: string) => context.form.get(field) ?? '';
    const fields = { schema: value('schema'), sample: value('sample').trim(), state: value('state') };
    const { errors } = await context.attemptWithPassword(() => this.put(name, version, fields, context));
    if (errors) {
      // The field for the member `draft`.
      const { draft, ...others } = errors;
      const shown = draft ? { ...others, state: draft } : others;
      return { page: eventVersionFormPage({ name, version, fields, errors: shown }), status: 400 };
    }
    return { goTo: eventTypePath(name), notice: 'event_version_saved' };
  }

  private async put(
    name: string,
    version: number,
    { schema, sample, state }: EventVersionFields,
    context: ConsoleContext,
  ): Promise<void> {
    const body = {
      schema: parsedJson(schema),
      draft: state === 'draft',
      ...(sample === '' ? {} : { sample: parsedJson(sample) }),
    };
    const written = await formValue(EventTypeVersionDto, body);
    await this.catalogue.putVersion(name, version, { ...written, draft: body.draft }, context.actor);
  }

  /** Throws a 404 problem for a version that neither is there nor is the next one. */
  private async find(name: string, number: string): Promise<{ type: VersionedEventType; version: number }> {
    const type = await this.types.get(name);
    const version = Number(number);
    const isThere = /^[1-9]\d{0,3}$/.test(number) && version <= type.versions.length + 1;
    if (!isThere || type.publisher === 'itself')
      throw notFound('There is no such version of this event type.');
    return { type, version };
  }
}
