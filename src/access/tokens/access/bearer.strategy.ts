import { Injectable } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import { Strategy } from 'passport-http-bearer';
import { ownPassport } from '#platform/http/guards/strategy.guard.js';
import { AccessTokensService } from './access-tokens.service.js';
import type { Principal } from './principal.js';

/** Bearer tokens (RFC 6750). The strategy reads the token from the header and calls `validate` with it. */
@Injectable()
export class BearerStrategy extends PassportStrategy(Strategy, 'bearer') {
  constructor(private readonly accessTokens: AccessTokensService) {
    super();
  }

  /** The caller with this token; false if the token is not valid. */
  async validate(token: string): Promise<Principal | false> {
    return (await this.accessTokens.find(token)) ?? false;
  }

  getPassportInstance() {
    return ownPassport();
  }
}
