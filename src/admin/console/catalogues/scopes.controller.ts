import { Param } from '@nestjs/common';
import { FormBody } from '../../../http/form-body.decorator.js';
import type { Form } from '../../../http/form.js';
import { ScopesService } from '../../../scopes/scopes.service.js';
import { isScopeName, ScopeDto } from '../../admin-scopes.dto.js';
import { ConsolePages, ConsolePost, ConsoleGet, Visit } from '../console-pages.decorator.js';
import type { ConsoleAnswer, ConsoleVisit } from '../console-visit.js';
import { attempt, formValue, refuseTogether, type FieldErrors } from '../form-attempt.js';
import { scopeFormPage, scopesPage, SCOPES_PATH, scopePath, type ScopeFields } from './scopes.pages.js';

/** The scope catalogue in the console. */
@ConsolePages('scopes')
export class ConsoleScopesController {
  constructor(private readonly scopes: ScopesService) {}

  @ConsoleGet()
  async list(@Visit() visit: ConsoleVisit): Promise<ConsoleAnswer> {
    return { html: scopesPage({ frame: visit.frame, scopes: await this.scopes.list() }) };
  }

  @ConsoleGet('new', 'asked')
  askForNew(@Visit() visit: ConsoleVisit): ConsoleAnswer {
    return this.form(visit, `${SCOPES_PATH}/new`, { name: '', description: '', audience: 'partner' }, true);
  }

  @ConsolePost('new', 'asked in the form')
  create(@Visit() visit: ConsoleVisit, @FormBody() form: Form): Promise<ConsoleAnswer> {
    return this.save(visit, form, form.get('name')?.trim() ?? '', `${SCOPES_PATH}/new`, true);
  }

  @ConsoleGet(':name/edit', 'asked')
  async askForChanges(@Visit() visit: ConsoleVisit, @Param('name') name: string): Promise<ConsoleAnswer> {
    const { description, audience } = await this.scopes.get(name);
    return this.form(visit, scopePath(name), { name, description, audience }, false);
  }

  @ConsolePost(':name/edit', 'asked in the form')
  async change(
    @Visit() visit: ConsoleVisit,
    @Param('name') name: string,
    @FormBody() form: Form,
  ): Promise<ConsoleAnswer> {
    await this.scopes.get(name);
    return this.save(visit, form, name, scopePath(name), false);
  }

  private async save(
    visit: ConsoleVisit,
    form: Form,
    name: string,
    action: string,
    isNew: boolean,
  ): Promise<ConsoleAnswer> {
    const fields = {
      name,
      description: form.get('description') ?? '',
      audience: form.get('audience') ?? '',
    };
    const ask = await visit.askPassword(form);
    const { errors } = ask ? { errors: ask } : await attempt(() => this.put(fields, visit));
    if (errors) return this.form(visit, action, fields, isNew, errors);
    return { goTo: SCOPES_PATH, notice: 'scope_saved' };
  }

  private async put({ name, ...members }: ScopeFields, visit: ConsoleVisit): Promise<void> {
    const { done, errors } = await attempt(() => formValue(ScopeDto, members));
    refuseTogether(
      isScopeName(name) ? {} : { name: ['Enter 1 to 64 of the characters a-z, 0-9, _ . : and -'] },
      errors,
    );
    await this.scopes.put({ name, ...done! }, visit.actor);
  }

  private form(
    visit: ConsoleVisit,
    action: string,
    fields: ScopeFields,
    isNew: boolean,
    errors?: FieldErrors,
  ): ConsoleAnswer {
    const csrfToken = visit.tokenFor(action);
    const html = scopeFormPage({ frame: visit.frame, action, fields, isNew, csrfToken, errors });
    return { html, status: errors ? 400 : 200 };
  }
}
