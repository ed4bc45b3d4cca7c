import { Param } from '@nestjs/common';
import { DEFAULT_SECRET_OVERLAP_SECONDS } from '#access/clients/client-rules.js';
import { ClientSecretsService } from '#access/clients/client-secrets.service.js';
import { ClientsService } from '#access/clients/clients.service.js';
import { Context } from '#platform/http/page-routes/page-context.js';
import { NewSecretDto } from '../../api/clients/admin-clients.dto.js';
import { AdminActions } from '../../actions/admin-actions.service.js';
import { waitingFor } from '../console-context.js';
import type { ConsoleAnswer, ConsoleContext } from '../console-context.js';
import { ConsolePages, ConsolePost, ConsoleGet } from '../console-pages.decorator.js';
import { formValue } from '../form-attempt.js';
import { rotateSecretPage } from './rotate-secret.page.js';
import { secretPage, secretShownPath } from './secret.page.js';
import type { FieldErrors } from '#platform/web/forms/field.js';
import type { ShownSecret } from '#platform/web/layout/new-client-secret.js';

/** Rotating a client's secret in the console, with the old one staying valid for a while; new secrets are shown once. */
@ConsolePages('clients/:client_id/secret')
export class ConsoleClientSecretsController {
  constructor(
    private readonly clients: ClientsService,
    private readonly secrets: ClientSecretsService,
    private readonly actions: AdminActions,
  ) {}

  @ConsoleGet('', 'asked')
  async ask(@Param('client_id') id: string): Promise<ConsoleAnswer> {
    const overlap = String(DEFAULT_SECRET_OVERLAP_SECONDS);
    return this.form(id, overlap, await this.secrets.newest(id));
  }

  /** Replaces the secret that the form showed; a second submit has no effect. */
  @ConsolePost('', 'asked in the form')
  async rotate(@Context() context: ConsoleContext, @Param('client_id') id: string): Promise<ConsoleAnswer> {
    const { form } = context;
    const overlap = form.get('expire_previous_in') ?? '';
    const newest = form.get('newest') ?? '';
    const { result: outcome, errors } = await context.attemptWithPassword(async () => {
      const seconds = /^\d{1,9}$/.test(overlap) ? Number(overlap) : overlap;
      const body = await formValue(NewSecretDto, { expire_previous_in: seconds });
      return this.actions.run(
        'client.rotate_secret',
        id,
        { expirePreviousIn: body.expire_previous_in! },
        context.actor,
        newest,
      );
    });
    if (errors) return this.form(id, overlap, newest, errors);
    if (outcome.waiting) return waitingFor(outcome.waiting);
    const goTo = secretShownPath(id);
    if (!outcome.done) return { goTo };
    const { secret, previousSecretExpiresAt } = outcome.done;
    const until = previousSecretExpiresAt?.toISOString() ?? null;
    const showOnce: ShownSecret = { secret, isNew: false, previousSecretExpiresAt: until };
    return { goTo, showOnce };
  }

  /** The secret that was just created, shown once. */
  @ConsoleGet('shown')
  async show(@Context() context: ConsoleContext, @Param('client_id') id: string): Promise<ConsoleAnswer> {
    const client = await this.clients.get(id);
    const shown = context.takeShown() as ShownSecret | undefined;
    return { page: secretPage({ client, shown }) };
  }

  private async form(
    id: string,
    overlap: string,
    newest: string,
    errors?: FieldErrors,
  ): Promise<ConsoleAnswer> {
    const client = await this.clients.get(id);
    return { page: rotateSecretPage({ client, overlap, newest, errors }), status: errors ? 400 : 200 };
  }
}
