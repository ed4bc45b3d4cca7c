import { Injectable } from '@nestjs/common';
import { BearerGuard } from '#access/tokens/access/bearer.guard.js';
import { OAuthError } from '../oauth-error.js';

/** The bearer guard with the error format of an OAuth endpoint. */
@Injectable()
export class IntrospectionBearerGuard extends BearerGuard {
  /** Introspection reads, although it is a POST. */
  protected override isRead(): boolean {
    return true;
  }

  protected override refusal(description: string, challenge: string): OAuthError {
    return new OAuthError('invalid_token', description, 401, { 'www-authenticate': challenge });
  }
}
