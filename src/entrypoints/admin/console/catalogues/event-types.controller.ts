import { Param } from '@nestjs/common';
import { Context } from '#platform/http/page-routes/page-context.js';
import { nameViolations } from '#platform/http/validation/name-rule.js';
import { ScopesService } from '#access/scopes/scopes.service.js';
import { EventCatalogueService } from '#events/webhooks/event-types/event-catalogue.service.js';
import { EVENT_TYPE_NAME, type EventTypeEntity } from '#events/webhooks/event-types/event-type.entity.js';
import { EventTypesService } from '#events/webhooks/event-types/event-types.service.js';
import { EventTypeDto } from '../../api/event-types/admin-event-types.dto.js';
import type { ConsoleAnswer, ConsoleContext } from '../console-context.js';
import { ConsoleGet, ConsolePages, ConsolePost } from '../console-pages.decorator.js';
import { judged, refuseTogether } from '../form-attempt.js';
import {
  eventTypeFormPage,
  eventTypePage,
  eventTypePath,
  eventTypesPage,
  eventTypeTexts,
  EVENT_TYPES_PATH,
  type EventTypeFields,
} from './event-types.page.js';
import { translationViolations } from '#access/scopes/purposes/purpose-words.js';
import type { FieldErrors } from '#platform/web/forms/field.js';
import { textsIn, parsedJson } from './texts.js';
import { translationsIn, typedTranslations } from './translations.js';

/** The catalogue of event types in the console. */
@ConsolePages('event-types')
export class ConsoleEventTypesController {
  constructor(
    private readonly types: EventTypesService,
    private readonly catalogue: EventCatalogueService,
    private readonly scopes: ScopesService,
  ) {}

  @ConsoleGet('', 'not asked', 'viewer')
  async list(): Promise<ConsoleAnswer> {
    return { page: eventTypesPage({ types: await this.types.list() }) };
  }

  @ConsoleGet('new', 'asked')
  askForNew(): Promise<ConsoleAnswer> {
    const fields = { name: '', description: '', translations: {}, scope: '', sample: '{}', resource: '/id' };
    return this.form(`${EVENT_TYPES_PATH}/new`, fields);
  }

  @ConsolePost('new', 'asked in the form')
  create(@Context() context: ConsoleContext): Promise<ConsoleAnswer> {
    return this.save(context, context.form.get('name')?.trim() ?? '', `${EVENT_TYPES_PATH}/new`);
  }

  @ConsoleGet(':type', 'not asked', 'viewer')
  async show(@Param('type') name: string): Promise<ConsoleAnswer> {
    return { page: eventTypePage({ type: await this.types.get(name) }) };
  }

  @ConsoleGet(':type/edit', 'asked')
  async askForChanges(@Param('type') name: string): Promise<ConsoleAnswer> {
    const present = fieldsOf(await this.types.get(name));
    return this.form(`${eventTypePath(name)}/edit`, present, present);
  }

  @ConsolePost(':type/edit', 'asked in the form')
  async change(@Context() context: ConsoleContext, @Param('type') name: string): Promise<ConsoleAnswer> {
    const present = fieldsOf(await this.types.get(name));
    return this.save(context, name, `${eventTypePath(name)}/edit`, present);
  }

  private async save(
    context: ConsoleContext,
    name: string,
    action: string,
    present?: EventTypeFields,
  ): Promise<ConsoleAnswer> {
    const text = textsIn(context.form, present && eventTypeTexts(present));
    const fields = {
      name,
      description: text('description'),
      translations: typedTranslations(text),
      scope: text('scope'),
      sample: text('sample'),
      resource: text('resource').trim(),
    };
    const { errors } = await context.attemptWithPassword(() => this.put(fields, context, !present));
    if (errors) return this.form(action, fields, present, errors);
    return { goTo: eventTypePath(name), notice: 'event_type_saved' };
  }

  private async put(
    { name, sample, resource, translations: typed, ...members }: EventTypeFields,
    context: ConsoleContext,
    onlyNew: boolean,
  ): Promise<void> {
    const translations = translationsIn(typed);
    const body = {
      ...members,
      translations,
      sample: parsedJson(sample),
      resource: resource === '' ? null : resource,
    };
    const { value, violations } = await judged(EventTypeDto, body);
    refuseTogether(nameViolations(EVENT_TYPE_NAME, name), {
      ...violations,
      ...translationViolations(translations),
    });
    const type = { name, ...value!, resource: value!.resource ?? null };
    await this.catalogue.putType(type, context.actor, { onlyNew });
  }

  private async form(
    action: string,
    fields: EventTypeFields,
    present?: EventTypeFields,
    errors?: FieldErrors,
  ): Promise<ConsoleAnswer> {
    const known = await this.scopes.list();
    const scopes = known.filter(({ audience }) => audience === 'partner').map(({ name }) => name);
    const page = eventTypeFormPage({ action, fields, present, scopes, errors });
    return { page, status: errors ? 400 : 200 };
  }
}

const fieldsOf = ({
  name,
  description,
  translations,
  scope,
  sample,
  resource,
}: EventTypeEntity): EventTypeFields => ({
  name,
  description,
  translations,
  scope: scope ?? '',
  sample: JSON.stringify(sample, null, 2),
  resource: resource ?? '',
});
