import { Injectable } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import { Strategy } from 'passport-http-bearer';
import { AccessTokensService } from './access-tokens.service.js';
import type { Principal } from './principal.js';

/** Passport's bearer strategy over the access tokens of this service. */
@Injectable()
export class BearerStrategy extends PassportStrategy(Strategy, 'bearer') {
  constructor(private readonly accessTokens: AccessTokensService) {
    super({ passReqToCallback: true });
  }

  /** The principal; a token that opens nothing is counted, with the reason. */
  async validate({ ip }: { ip: string }, token: string): Promise<Principal | false> {
    const principal = await this.accessTokens.find(token);
    if (!principal) await this.accessTokens.countRefusal(token, ip);
    return principal ?? false;
  }
}
