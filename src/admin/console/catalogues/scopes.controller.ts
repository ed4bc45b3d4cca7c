import { Param } from '@nestjs/common';
import { FormBody } from '../../../http/form-body.decorator.js';
import type { Form } from '../../../http/form.js';
import { validationFailed } from '../../../http/problem.js';
import { ScopesService } from '../../../scopes/scopes.service.js';
import { isScopeName, ScopeDto } from '../../admin-scopes.dto.js';
import { ConsolePages, Does, Shows, Visit } from '../console-pages.decorator.js';
import type { ConsoleAnswer, ConsoleVisit } from '../console-visit.js';
import { attempt, formValue, type FieldErrors } from '../form-attempt.js';
import { scopeFormPage, scopesPage, SCOPES_PATH, scopePath, type ScopeFields } from './scopes.pages.js';

/** The scope catalogue in the console. */
@ConsolePages('scopes')
export class ConsoleScopesController {
  constructor(private readonly scopes: ScopesService) {}

  @Shows()
  async list(@Visit() visit: ConsoleVisit): Promise<ConsoleAnswer> {
    return { html: scopesPage({ frame: visit.frame, scopes: await this.scopes.list() }) };
  }

  @Shows('new')
  askForNew(@Visit() visit: ConsoleVisit): ConsoleAnswer {
    return this.form(visit, `${SCOPES_PATH}/new`, { name: '', description: '', audience: 'partner' }, true);
  }

  @Does('new')
  create(@Visit() visit: ConsoleVisit, @FormBody() form: Form): Promise<ConsoleAnswer> {
    return this.save(visit, form, form.get('name')?.trim() ?? '', `${SCOPES_PATH}/new`, true);
  }

  @Shows(':name/edit')
  async askForChanges(@Visit() visit: ConsoleVisit, @Param('name') name: string): Promise<ConsoleAnswer> {
    const { description, audience } = await this.scopes.get(name);
    return this.form(visit, scopePath(name), { name, description, audience }, false);
  }

  @Does(':name/edit')
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
    const { errors } = await attempt(async () => {
      if (!isScopeName(name)) {
        throw validationFailed({ name: ['must be 1 to 64 of the characters a-z, 0-9, _ . : and -'] });
      }
      const { description, audience } = await formValue(ScopeDto, {
        description: fields.description,
        audience: fields.audience,
      });
      await this.scopes.put({ name, description, audience }, visit.actor);
    });
    if (errors) return this.form(visit, action, fields, isNew, errors);
    return { goTo: SCOPES_PATH, notice: 'scope_saved' };
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
