import { Param } from '@nestjs/common';
import { ClientsService } from '../../../clients/clients.service.js';
import { FormBody } from '../../../http/form-body.decorator.js';
import type { Form } from '../../../http/form.js';
import { NewSecretDto } from '../../admin-clients.dto.js';
import { ConsolePages, Does, Shows, Visit } from '../console-pages.decorator.js';
import type { ConsoleAnswer, ConsoleVisit } from '../console-visit.js';
import { attempt, formValue, type FieldErrors } from '../form-attempt.js';
import { clientPath } from './client-frame.js';
import { DEFAULT_OVERLAP, rotateSecretPage } from './rotate-secret.page.js';
import { secretPage } from './secret.page.js';

/** The rotation of a client's secret in the console, with the old one counting on for a while. */
@ConsolePages('clients/:client_id/secret')
export class ConsoleClientSecretsController {
  constructor(private readonly clients: ClientsService) {}

  @Shows()
  ask(@Visit() visit: ConsoleVisit, @Param('client_id') id: string): Promise<ConsoleAnswer> {
    return this.form(visit, id, DEFAULT_OVERLAP);
  }

  /** Makes a new secret, which the page that follows shows, this once. */
  @Does()
  async rotate(
    @Visit() visit: ConsoleVisit,
    @Param('client_id') id: string,
    @FormBody() form: Form,
  ): Promise<ConsoleAnswer> {
    const overlap = form.get('expire_previous_in') ?? '';
    const { done, errors } = await attempt(async () => {
      const seconds = /^\d{1,9}$/.test(overlap) ? Number(overlap) : overlap;
      const body = await formValue(NewSecretDto, { expire_previous_in: seconds });
      return this.clients.rotateSecret(id, body.expire_previous_in!, visit.actor);
    });
    if (errors) return this.form(visit, id, overlap, errors);
    const client = await this.clients.get(id);
    return { html: secretPage({ frame: visit.frame, client, isNew: false, ...done }) };
  }

  private async form(
    visit: ConsoleVisit,
    id: string,
    overlap: string,
    errors?: FieldErrors,
  ): Promise<ConsoleAnswer> {
    const client = await this.clients.get(id);
    const csrfToken = visit.tokenFor(clientPath(id, 'secret'));
    const html = rotateSecretPage({ frame: visit.frame, client, overlap, csrfToken, errors });
    return { html, status: errors ? 400 : 200 };
  }
}
