import { Param } from '@nestjs/common';
import { logoFrom, LOGO_FIELD } from '#records/brand/logo-image.js';
import { ClientsService } from '#access/clients/clients.service.js';
import { Context } from '#platform/http/page-routes/page-context.js';
import type { ConsoleAnswer, ConsoleContext } from '../console-context.js';
import { ConsoleGet, ConsolePages, ConsolePost, ConsoleUpload } from '../console-pages.decorator.js';
import { attempt } from '../form-attempt.js';
import { LogoForms } from '../pages/logo-forms.js';
import type { FieldErrors } from '#platform/web/forms/field.js';
import { aboutClient, clientPath } from './client-layout.js';

/** The logo of a client, as users see it. */
@ConsolePages('clients/:client_id/logo')
export class ConsoleClientLogoController {
  constructor(private readonly clients: ClientsService) {}

  @ConsoleGet()
  ask(@Param('client_id') id: string): Promise<ConsoleAnswer> {
    return this.page(id);
  }

  @ConsoleUpload('', 'not asked')
  async upload(@Context() context: ConsoleContext, @Param('client_id') id: string): Promise<ConsoleAnswer> {
    await this.clients.get(id);
    const { errors } = await attempt(async () =>
      this.clients.changeLogo(id, await logoFrom(context.file(LOGO_FIELD)), context.actor),
    );
    return errors ? this.page(id, errors) : { goTo: clientPath(id), notice: 'logo_saved' };
  }

  @ConsolePost('remove', 'not asked')
  async remove(@Context() context: ConsoleContext, @Param('client_id') id: string): Promise<ConsoleAnswer> {
    await this.clients.changeLogo(id, null, context.actor);
    return { goTo: clientPath(id), notice: 'logo_removed' };
  }

  private async page(id: string, errors?: FieldErrors): Promise<ConsoleAnswer> {
    const client = await this.clients.get(id);
    const forms = LogoForms({
      logoId: client.logoId,
      path: clientPath(id, 'logo'),
      back: clientPath(id),
      errors,
    });
    return { page: aboutClient(client, { title: 'Logo', children: forms }), status: errors ? 400 : 200 };
  }
}
