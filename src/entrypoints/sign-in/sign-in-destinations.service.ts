import { Injectable } from '@nestjs/common';
import { Answers } from '#platform/database/domain/domain-map.js';
import { Form, queryStringOf } from '#platform/http/forms/form.js';
import { say } from '#platform/language/text.js';
import { legible } from '#platform/http/validation/legible-text.js';
import { AuthorizationRequestChecks } from '#entrypoints/oauth/authorization/authorization-request.checks.js';
import type { CheckedRequest } from '#entrypoints/oauth/authorization/authorization-request.js';

/** Where a login leads if an application asked for it. */
@Injectable()
export class SignInDestinations {
  constructor(private readonly checks: AuthorizationRequestChecks) {}

  /** The authorization endpoint redirects a refused request to its client without asking. */
  @Answers('page.leads_away')
  async leadsAway(path: string): Promise<boolean> {
    return (await this.requestIn(path))?.outcome === 'redirect';
  }

  /** The name of the client behind `return_to`, or that of the portal, a message. */
  async nameOf(returnTo: string | undefined): Promise<string | undefined> {
    if (returnTo && /^\/portal(\/|\?|$)/.test(returnTo)) return say('Webhook portal');
    const checked = await this.requestIn(returnTo);
    return checked?.outcome === 'request' ? legible(checked.request.client.name) : undefined;
  }

  private async requestIn(path: string | undefined): Promise<CheckedRequest | undefined> {
    if (!path || !/^\/o\/authorize\/?\?/.test(path)) return undefined;
    return this.checks.check(Form.parse(queryStringOf(path)));
  }
}
