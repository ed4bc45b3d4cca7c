import { Param } from '@nestjs/common';
import { FormBody } from '../../../http/form-body.decorator.js';
import type { Form } from '../../../http/form.js';
import { Context } from '../../../http/page-routes/page-context.js';
import { ScopesService } from '../../../scopes/scopes.service.js';
import { isScopeName, ScopeDto } from '../../admin-scopes.dto.js';
import { ConsolePages, ConsolePost, ConsoleGet } from '../console-pages.decorator.js';
import type { ConsoleAnswer, ConsoleContext } from '../console-context.js';
import { attempt, formValue, refuseTogether, type FieldErrors } from '../form-attempt.js';
import { scopeFormPage, scopesPage, SCOPES_PATH, scopePath, type ScopeFields } from './scopes.pages.js';

/** The scope catalogue in the console. */
@ConsolePages('scopes')
export class ConsoleScopesController {
  constructor(private readonly scopes: ScopesService) {}

  @ConsoleGet()
  async list(@Context() context: ConsoleContext): Promise<ConsoleAnswer> {
    return { html: scopesPage({ layoutProps: context.layoutProps, scopes: await this.scopes.list() }) };
  }

  @ConsoleGet('new', 'asked')
  askForNew(@Context() context: ConsoleContext): ConsoleAnswer {
    return this.form(context, `${SCOPES_PATH}/new`, { name: '', description: '', audience: 'partner' }, true);
  }

  @ConsolePost('new', 'asked in the form')
  create(@Context() context: ConsoleContext, @FormBody() form: Form): Promise<ConsoleAnswer> {
    return this.save(context, form, form.get('name')?.trim() ?? '', `${SCOPES_PATH}/new`, true);
  }

  @ConsoleGet(':name/edit', 'asked')
  async askForChanges(
    @Context() context: ConsoleContext,
    @Param('name') name: string,
  ): Promise<ConsoleAnswer> {
    const { description, audience } = await this.scopes.get(name);
    return this.form(context, scopePath(name), { name, description, audience }, false);
  }

  @ConsolePost(':name/edit', 'asked in the form')
  async change(
    @Context() context: ConsoleContext,
    @Param('name') name: string,
    @FormBody() form: Form,
  ): Promise<ConsoleAnswer> {
    await this.scopes.get(name);
    return this.save(context, form, name, scopePath(name), false);
  }

  private async save(
    context: ConsoleContext,
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
    const ask = await context.askPassword(form);
    const { errors } = ask ? { errors: ask } : await attempt(() => this.put(fields, context));
    if (errors) return this.form(context, action, fields, isNew, errors);
    return { goTo: SCOPES_PATH, notice: 'scope_saved' };
  }

  private async put({ name, ...members }: ScopeFields, context: ConsoleContext): Promise<void> {
    const { done, errors } = await attempt(() => formValue(ScopeDto, members));
    refuseTogether(
      isScopeName(name) ? {} : { name: ['Enter 1 to 64 of the characters a-z, 0-9, _ . : and -'] },
      errors,
    );
    await this.scopes.put({ name, ...done! }, context.actor);
  }

  private form(
    context: ConsoleContext,
    action: string,
    fields: ScopeFields,
    isNew: boolean,
    errors?: FieldErrors,
  ): ConsoleAnswer {
    const csrfToken = context.tokenFor(action);
    const html = scopeFormPage({
      layoutProps: context.layoutProps,
      action,
      fields,
      isNew,
      csrfToken,
      errors,
    });
    return { html, status: errors ? 400 : 200 };
  }
}
