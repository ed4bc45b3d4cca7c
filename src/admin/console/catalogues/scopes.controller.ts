import { Param } from '@nestjs/common';
import { Context } from '../../../http/page-routes/page-context.js';
import { Settings } from '../../../config/settings.js';
import { nameViolations } from '../../../http/validation/name-rule.js';
import { ScopesService } from '../../../scopes/scopes.service.js';
import { translationViolations } from '../../../scopes/purposes/purpose-words.js';
import { SCOPE_NAME } from '../../../scopes/scope-name.js';
import { ScopeDto } from '../../api/scopes/admin-scopes.dto.js';
import type { ConsoleAnswer, ConsoleContext } from '../console-context.js';
import { ConsolePages, ConsolePost, ConsoleGet } from '../console-pages.decorator.js';
import { judged, refuseTogether } from '../form-attempt.js';
import { scopeFormPage, scopesPage, SCOPES_PATH, scopePath, type ScopeFields } from './scopes.pages.js';
import type { FieldErrors } from '../../../web/forms/field.js';
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
    return this.form(
      `${SCOPES_PATH}/new`,
      { name: '', description: '', audience: 'partner', meaning_changed: false, translations: {} },
      true,
    );
  }

  @ConsolePost('new', 'asked in the form')
  create(@Context() context: ConsoleContext): Promise<ConsoleAnswer> {
    return this.save(context, context.form.get('name')?.trim() ?? '', `${SCOPES_PATH}/new`, true);
  }

  @ConsoleGet(':name/edit', 'asked')
  async askForChanges(@Param('name') name: string): Promise<ConsoleAnswer> {
    const { description, audience, translations } = await this.scopes.get(name);
    const fields = { name, description, audience, meaning_changed: false, translations };
    return this.form(scopePath(name), fields, false);
  }

  @ConsolePost(':name/edit', 'asked in the form')
  async change(@Context() context: ConsoleContext, @Param('name') name: string): Promise<ConsoleAnswer> {
    await this.scopes.get(name);
    return this.save(context, name, scopePath(name), false);
  }

  private async save(
    context: ConsoleContext,
    name: string,
    action: string,
    isNew: boolean,
  ): Promise<ConsoleAnswer> {
    const { form } = context;
    const fields = {
      name,
      description: form.get('description') ?? '',
      audience: form.get('audience') ?? '',
      meaning_changed: form.get('meaning_changed') === 'true',
      translations: typedTranslations(form),
    };
    const { errors } = await context.attemptWithPassword(() => this.put(fields, context, isNew));
    if (errors) return this.form(action, fields, isNew, errors);
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

  private form(action: string, fields: ScopeFields, isNew: boolean, errors?: FieldErrors): ConsoleAnswer {
    const { consentNoticeDays: noticeDays } = this.settings;
    return { page: scopeFormPage({ action, fields, isNew, noticeDays, errors }), status: errors ? 400 : 200 };
  }
}
