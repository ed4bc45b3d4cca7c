import { Param } from '@nestjs/common';
import { Context } from '#platform/http/page-routes/page-context.js';
import { notFound } from '#platform/http/problems/problem.js';
import { showsSaved } from '#platform/http/resources/shown-values.js';
import { EventCatalogueService } from '#events/webhooks/event-types/event-catalogue.service.js';
import { EventTypesService } from '#events/webhooks/event-types/event-types.service.js';
import { EventTypeVersionDto } from '../../api/event-types/admin-event-types.dto.js';
import type { ConsoleAnswer, ConsoleContext } from '../console-context.js';
import { ConsoleGet, ConsolePages, ConsolePost } from '../console-pages.decorator.js';
import { formValue } from '../form-attempt.js';
import {
  eventTypePath,
  eventVersionFormPage,
  type EventVersionFields,
  type SavedVersion,
} from './event-types.page.js';
import { textsIn, parsedJson } from './texts.js';
import type { VersionedEventType } from '#events/webhooks/event-types/event-type.entity.js';

/** The versions of an event type in the console: the next one, and those that nothing was published with. */
@ConsolePages('event-types')
export class ConsoleEventVersionsController {
  constructor(
    private readonly types: EventTypesService,
    private readonly catalogue: EventCatalogueService,
  ) {}

  @ConsoleGet(':type/versions/:version', 'asked')
  async ask(@Param('type') name: string, @Param('version') number: string): Promise<ConsoleAnswer> {
    const { type, version, present } = await this.find(name, number);
    const schema = type.versions.at(-1)?.schema ?? { type: 'object' };
    const fields = { schema: JSON.stringify(schema, null, 2), state: 'published', ...present, sample: '' };
    return { page: eventVersionFormPage({ name, version, fields, present }) };
  }

  @ConsolePost(':type/versions/:version', 'asked in the form')
  async save(
    @Context() context: ConsoleContext,
    @Param('type') name: string,
    @Param('version') number: string,
  ): Promise<ConsoleAnswer> {
    const found = await this.find(name, number);
    const { version } = found;
    // A form for the next version does not change one that someone else has created since.
    const present = showsSaved(context.form) ? found.present : undefined;
    const text = textsIn(context.form, present);
    const fields = { schema: text('schema'), sample: text('sample').trim(), state: text('state') };
    const { errors } = await context.attemptWithPassword(() =>
      this.put(name, version, fields, context, !present),
    );
    if (errors) {
      // The field for the member `draft`.
      const { draft, ...others } = errors;
      const shown = draft ? { ...others, state: draft } : others;
      const page = eventVersionFormPage({ name, version, fields, present, errors: shown });
      return { page, status: 400 };
    }
    return { goTo: eventTypePath(name), notice: 'event_version_saved' };
  }

  private async put(
    name: string,
    version: number,
    { schema, sample, state }: EventVersionFields,
    context: ConsoleContext,
    onlyNew: boolean,
  ): Promise<void> {
    const body = {
      schema: parsedJson(schema),
      draft: state === 'draft',
      ...(sample === '' ? {} : { sample: parsedJson(sample) }),
    };
    const written = await formValue(EventTypeVersionDto, body);
    const whole = { ...written, draft: body.draft };
    await this.catalogue.putVersion(name, version, whole, context.actor, { onlyNew });
  }

  /** `present`: what is saved of it. Throws a 404 problem for a version that neither is there nor is the next one. */
  private async find(
    name: string,
    number: string,
  ): Promise<{ type: VersionedEventType; version: number; present?: SavedVersion }> {
    const type = await this.types.get(name);
    const version = Number(number);
    const isThere = /^[1-9]\d{0,3}$/.test(number) && version <= type.versions.length + 1;
    if (!isThere || type.publisher === 'itself')
      throw notFound('There is no such version of this event type.');
    const saved = type.versions.find((each) => each.version === version);
    if (!saved) return { type, version };
    const state = saved.draft ? 'draft' : 'published';
    return { type, version, present: { schema: JSON.stringify(saved.schema, null, 2), state } };
  }
}
