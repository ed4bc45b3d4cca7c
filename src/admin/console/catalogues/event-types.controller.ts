import { Param } from '@nestjs/common';
import { Context } from '../../../http/page-routes/page-context.js';
import { nameViolations } from '../../../http/validation/name-rule.js';
import { ScopesService } from '../../../scopes/scopes.service.js';
import { EventCatalogueService } from '../../../webhooks/event-types/event-catalogue.service.js';
import { EVENT_TYPE_NAME } from '../../../webhooks/event-types/event-type.entity.js';
import { EventTypesService } from '../../../webhooks/event-types/event-types.service.js';
import { EventTypeDto } from '../../api/event-types/admin-event-types.dto.js';
import type { ConsoleAnswer, ConsoleContext } from '../console-context.js';
import { ConsoleGet, ConsolePages, ConsolePost } from '../console-pages.decorator.js';
import { judged, refuseTogether } from '../form-attempt.js';
import {
  eventTypeFormPage,
  eventTypePage,
  eventTypePath,
  eventTypesPage,
  EVENT_TYPES_PATH,
  type EventTypeFields,
} from './event-types.page.js';
import { parsedJson } from './parsed-json.js';
import { translationViolations } from '../../../scopes/purposes/purpose-words.js';
import type { FieldErrors } from '../../../web/forms/field.js';
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
    return this.form(`${EVENT_TYPES_PATH}/new`, fields, true);
  }

  @ConsolePost('new', 'asked in the form')
  create(@Context() context: ConsoleContext): Promise<ConsoleAnswer> {
    return this.save(context, context.form.get('name')?.trim() ?? '', `${EVENT_TYPES_PATH}/new`, true);
  }

  @ConsoleGet(':type', 'not asked', 'viewer')
  async show(@Param('type') name: string): Promise<ConsoleAnswer> {
    return { page: eventTypePage({ type: await this.types.get(name) }) };
  }

  @ConsoleGet(':type/edit', 'asked')
  async askForChanges(@Param('type') name: string): Promise<ConsoleAnswer> {
    const { description, translations, scope, sample, resource } = await this.types.get(name);
    const fields = {
      name,
      description,
      translations,
      scope: scope ?? '',
      sample: JSON.stringify(sample, null, 2),
      resource: resource ?? '',
    };
    return this.form(`${eventTypePath(name)}/edit`, fields, false);
  }

  @ConsolePost(':type/edit', 'asked in the form')
  async change(@Context() context: ConsoleContext, @Param('type') name: string): Promise<ConsoleAnswer> {
    await this.types.get(name);
    return this.save(context, name, `${eventTypePath(name)}/edit`, false);
  }

  private async save(
    context: ConsoleContext,
    name: string,
    action: string,
    isNew: boolean,
  ): Promise<ConsoleAnswer> {
    const value = (field: string) => context.form.get(field) ?? '';
    const fields = {
      name,
      description: value('description'),
      translations: typedTranslations(context.form),
      scope: value('scope'),
      sample: value('sample'),
      resource: value('resource').trim(),
    };
    const { errors } = await context.attemptWithPassword(() => this.put(fields, context, isNew));
    if (errors) return this.form(action, fields, isNew, errors);
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
    isNew: boolean,
    errors?: FieldErrors,
  ): Promise<ConsoleAnswer> {
    const known = await this.scopes.list();
    const scopes = known.filter(({ audience }) => audience === 'partner').map(({ name }) => name);
    return { page: eventTypeFormPage({ action, fields, isNew, scopes, errors }), status: errors ? 400 : 200 };
  }
}
