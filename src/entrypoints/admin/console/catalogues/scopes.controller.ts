import { Param } from '@nestjs/common';
import { Context } from '#platform/http/page-routes/page-context.js';
import { Settings } from '#platform/config/settings.js';
import { nameViolations } from '#platform/http/validation/name-rule.js';
import { ScopesService } from '#access/scopes/scopes.service.js';
import { translationViolations } from '#access/scopes/purposes/purpose-words.js';
import { SCOPE_NAME } from '#access/scopes/scope-name.js';
import { ScopeDto } from '../../api/scopes/admin-scopes.dto.js';
import type { ConsoleAnswer, ConsoleContext } from '../console-context.js';
import { ConsolePages, ConsolePost, ConsoleGet } from '../console-pages.decorator.js';
import { judged, refuseTogether } from '../form-attempt.js';
import type { ScopeEntity } from '#access/scopes/scope.entity.js';
import {
  scopeFormPage,
  scopesPage,
  SCOPES_PATH,
  scopePath,
  scopeTexts,
  type ScopeFields,
} from './scopes.pages.js';
import type { FieldErrors } from '#platform/web/forms/field.js';
import { textsIn } from './texts.js';
import { translationsIn, typedTranslations } from './translations.js';

/** The scope catalogue in the console. */
@ConsolePages('scopes')
export class ConsoleScopesController {
  constructor(
    private readonly scopes: ScopesService,
    private readonly settings: Settings,
  ) {}

  @ConsoleGet('', 'not asked', 'viewer')
  async list(): Promise<ConsoleAnswer> {
    return { page: scopesPage({ scopes: await this.scopes.list() }) };
  }

  @ConsoleGet('new', 'asked')
  askForNew(): ConsoleAnswer {
    const none = { name: '', description: '', meaning_changed: false, translations: {} };
    return this.form(`${SCOPES_PATH}/new`, { ...none, audience: 'partner' });
  }

  @ConsolePost('new', 'asked in the form')
  create(@Context() context: ConsoleContext): Promise<ConsoleAnswer> {
    return this.save(context, context.form.get('name')?.trim() ?? '', `${SCOPES_PATH}/new`);
  }

  @ConsoleGet(':name/edit', 'asked')
  async askForChanges(@Param('name') name: string): Promise<ConsoleAnswer> {
    const present = fieldsOf(await this.scopes.get(name));
    return this.form(scopePath(name), present, present);
  }

  @ConsolePost(':name/edit', 'asked in the form')
  async change(@Context() context: ConsoleContext, @Param('name') name: string): Promise<ConsoleAnswer> {
    return this.save(context, name, scopePath(name), fieldsOf(await this.scopes.get(name)));
  }

  private async save(
    context: ConsoleContext,
    name: string,
    action: string,
    present?: ScopeFields,
  ): Promise<ConsoleAnswer> {
    const { form } = context;
    const text = textsIn(form, present && scopeTexts(present));
    const fields = {
      name,
      description: text('description'),
      audience: text('audience'),
      meaning_changed: form.get('meaning_changed') === 'true',
      translations: typedTranslations(text),
    };
    const { errors } = await context.attemptWithPassword(() => this.put(fields, context, !present));
    if (errors) return this.form(action, fields, present, errors);
    return { goTo: SCOPES_PATH, notice: fields.meaning_changed ? 'scope_asks_again' : 'scope_saved' };
  }

  private async put(
    { name, translations: typed, ...members }: ScopeFields,
    context: ConsoleContext,
    onlyNew: boolean,
  ): Promise<void> {
    const translations = translationsIn(typed);
    const { value, violations } = await judged(ScopeDto, { ...members, translations });
    refuseTogether(nameViolations(SCOPE_NAME, name), {
      ...violations,
      ...translationViolations(translations),
    });
    const { meaning_changed: meaningChanged, ...scope } = value!;
    await this.scopes.put({ name, ...scope }, context.actor, { meaningChanged, onlyNew });
  }

  private form(
    action: string,
    fields: ScopeFields,
    present?: ScopeFields,
    errors?: FieldErrors,
  ): ConsoleAnswer {
    const { consentNoticeDays: noticeDays } = this.settings;
    const page = scopeFormPage({ action, fields, present, noticeDays, errors });
    return { page, status: errors ? 400 : 200 };
  }
}

const fieldsOf = ({ name, description, audience, translations }: ScopeEntity): ScopeFields => ({
  name,
  description,
  audience,
  meaning_changed: false,
  translations,
});
