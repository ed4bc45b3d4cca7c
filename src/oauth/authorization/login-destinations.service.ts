import { Injectable } from '@nestjs/common';
import { Form, queryStringOf } from '../../http/forms/form.js';
import { FormTargets } from '../../http/page-routes/form-targets.js';
import { legible } from '../../http/validation/legible-text.js';
import { AuthorizationRequestChecks } from './authorization-request.checks.js';
import { formTargetOf } from './redirect.js';

/** Where a login leads if an application asked for it. */
@Injectable()
export class LoginDestinations {
  constructor(
    private readonly checks: AuthorizationRequestChecks,
    formTargets: FormTargets,
  ) {
    formTargets.addAfter(async (returnTo) => (await this.of(returnTo))?.formTargets ?? []);
  }

  /** The client behind `return_to`: after the login the browser may be redirected straight on to it. */
  async of(
    returnTo: string | undefined,
  ): Promise<{ clientName?: string; formTargets: string[] } | undefined> {
    if (!returnTo || !/^\/o\/authorize\/?\?/.test(returnTo)) return undefined;
    const checked = await this.checks.check(Form.parse(queryStringOf(returnTo)));
    if (checked.outcome === 'page') return undefined;
    if (checked.outcome === 'redirect') return { formTargets: [formTargetOf(checked.redirectUri)] };
    const { client, redirectUri } = checked.request;
    return { clientName: legible(client.name), formTargets: [formTargetOf(redirectUri)] };
  }
}
