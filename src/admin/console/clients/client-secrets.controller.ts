import { Param } from '@nestjs/common';
import { DEFAULT_SECRET_OVERLAP_SECONDS } from '../../../clients/client-rules.js';
import { ClientsService } from '../../../clients/clients.service.js';
import { FormBody } from '../../../http/form-body.decorator.js';
import type { Form } from '../../../http/form.js';
import { Context } from '../../../http/page-routes/page-context.js';
import { NewSecretDto } from '../../admin-clients.dto.js';
import { ConsolePages, ConsolePost, ConsoleGet } from '../console-pages.decorator.js';
import type { ConsoleAnswer, ConsoleContext } from '../console-context.js';
import { attempt, formValue, type FieldErrors } from '../form-attempt.js';
import { clientPath } from './client-layout.js';
import { rotateSecretPage } from './rotate-secret.page.js';
import { secretPage, secretShownPath, type ShownSecret } from './secret.page.js';

/** Rotating a client's secret in the console, with the old one staying valid for a while; new secrets are shown once. */
@ConsolePages('clients/:client_id/secret')
export class ConsoleClientSecretsController {
  constructor(private readonly clients: ClientsService) {}

  @ConsoleGet('', 'asked')
  async ask(@Context() context: ConsoleContext, @Param('client_id') id: string): Promise<ConsoleAnswer> {
    const overlap = String(DEFAULT_SECRET_OVERLAP_SECONDS);
    return this.form(context, id, overlap, await this.clients.newestSecret(id));
  }

  /** Replaces the secret that the form showed; a second submit has no effect. */
  @ConsolePost('', 'asked in the form')
  async rotate(
    @Context() context: ConsoleContext,
    @Param('client_id') id: string,
    @FormBody() form: Form,
  ): Promise<ConsoleAnswer> {
    const overlap = form.get('expire_previous_in') ?? '';
    const newest = form.get('newest') ?? '';
    const ask = await context.askPassword(form);
    if (ask) return this.form(context, id, overlap, newest, ask);
    const { done, errors } = await attempt(async () => {
      const seconds = /^\d{1,9}$/.test(overlap) ? Number(overlap) : overlap;
      const body = await formValue(NewSecretDto, { expire_previous_in: seconds });
      return this.clients.rotateSecretOnce(id, newest, body.expire_previous_in!, context.actor);
    });
    if (errors) return this.form(context, id, overlap, newest, errors);
    const goTo = secretShownPath(id);
    if (!done) return { goTo };
    const { secret, previousSecretExpiresAt } = done;
    const until = previousSecretExpiresAt?.toISOString() ?? null;
    const showOnce: ShownSecret = { secret, isNew: false, previousSecretExpiresAt: until };
    return { goTo, showOnce };
  }

  /** The secret that was just created, shown once. */
  @ConsoleGet('shown')
  async show(@Context() context: ConsoleContext, @Param('client_id') id: string): Promise<ConsoleAnswer> {
    const client = await this.clients.get(id);
    const shown = context.takeShown() as ShownSecret | undefined;
    return { html: secretPage({ layoutProps: context.layoutProps, client, shown }), withScript: true };
  }

  private async form(
    context: ConsoleContext,
    id: string,
    overlap: string,
    newest: string,
    errors?: FieldErrors,
  ): Promise<ConsoleAnswer> {
    const client = await this.clients.get(id);
    const csrfToken = context.tokenFor(clientPath(id, 'secret'));
    const html = rotateSecretPage({
      layoutProps: context.layoutProps,
      client,
      overlap,
      newest,
      csrfToken,
      errors,
    });
    return { html, status: errors ? 400 : 200, withScript: true };
  }
}
