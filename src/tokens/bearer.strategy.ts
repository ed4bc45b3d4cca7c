import { Injectable } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import { Strategy } from 'passport-http-bearer';
import { AccessTokensService } from './access-tokens.service.js';
import type { Principal } from './principal.js';

/** Passport's bearer strategy over the access tokens of this service. */
@Injectable()
export class BearerStrategy extends PassportStrategy(Strategy, 'bearer') {
  constructor(private readonly accessTokens: AccessTokensService) {
    super();
  }

  async validate(token: string): Promise<Principal | false> {
    return (await this.accessTokens.find(token)) ?? false;
  }
}
