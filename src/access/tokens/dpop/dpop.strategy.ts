import { Injectable } from '@nestjs/common';
import type { StrategyCreatedStatic } from 'passport';
import type { CredentialsRequest } from '#platform/http/guards/strategy.guard.js';
import { AccessTokensService } from '../access/access-tokens.service.js';
import { accessTokenOf, type Principal } from '../access/principal.js';
import { DpopProofs, type RequestWithProof } from './dpop-proofs.service.js';
import type { RefusedProof } from './proof-claims.js';

/** The request that is passed to the strategy. */
export interface DpopRequest extends CredentialsRequest {
  request: RequestWithProof;
}

/** Access tokens that are bound to a key (RFC 9449 §7.1): the token is valid, and the proof was made with its key. */
@Injectable()
export class DpopStrategy {
  readonly name = 'dpop';

  constructor(
    private readonly accessTokens: AccessTokensService,
    private readonly proofs: DpopProofs,
  ) {}

  /** Called by Passport: succeeds with the caller, or fails, with why the proof is refused if it was that. */
  authenticate(this: DpopStrategy & StrategyCreatedStatic, request: DpopRequest): void {
    this.validate(request).then(
      (found) => {
        if (!found) this.fail();
        else if ('refused' in found) this.fail({ ...found });
        else this.success(found);
      },
      (error: unknown) => this.error(error),
    );
  }

  /** The caller with this token, or why the proof is refused; undefined if the token is not valid, or bound to no key. */
  async validate({ headers, request }: DpopRequest): Promise<Principal | RefusedProof | undefined> {
    const token = accessTokenOf(headers.authorization) ?? '';
    const principal = await this.accessTokens.find(token);
    if (principal?.jkt === undefined) return undefined;
    const checked = await this.proofs.check(request, { token, jkt: principal.jkt });
    return 'refused' in checked ? checked : principal;
  }
}
