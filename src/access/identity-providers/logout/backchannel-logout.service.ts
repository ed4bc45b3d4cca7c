import { Injectable, Logger } from '@nestjs/common';
import { errors, jwtVerify, type JWTVerifyGetKey } from 'jose';
import type { Actor } from '#records/audit/audit.service.js';
import type { IdentityProvider } from '#platform/config/identity-providers.js';
import { Transactions } from '#platform/database/queries/transactions.js';
import { digestOf } from '#platform/secrets/tokens.js';
import { SessionsService } from '#access/users/sessions/sessions.service.js';
import { ASYMMETRIC_ALGORITHMS, CLOCK_TOLERANCE_SECONDS } from '../protocol/provider-metadata.js';
import type { Claims } from '../protocol/claims.js';
import { ProviderClients, type Keys } from '../protocol/provider-clients.service.js';
import { refusalOfError } from '../protocol/refusal-of-error.js';
import { SignInRefused } from '../refusals.js';
import { LogoutTokensRepository } from './logout-tokens.repository.js';

const EVENT = 'http://schemas.openid.net/event/backchannel-logout';
// Explicit types are only recommended; any other type belongs to another kind of token.
const TYPES = [undefined, 'JWT', 'logout+jwt', 'application/logout+jwt'];
const AGE_MAX_SECONDS = 10 * 60;
// Longer than the token is accepted, even with clocks that differ.
const KEPT_SECONDS = 2 * AGE_MAX_SECONDS;

/** OpenID Connect Back-Channel Logout 1.0: a provider ends the sessions that came from it. */
@Injectable()
export class BackchannelLogout {
  private readonly logger = new Logger(BackchannelLogout.name);

  constructor(
    private readonly providerClients: ProviderClients,
    private readonly tokens: LogoutTokensRepository,
    private readonly sessions: SessionsService,
    private readonly transactions: Transactions,
  ) {}

  /** Ends the sessions that the token names; throws a `SignInRefused` for an invalid or used token. */
  async logOut(provider: IdentityProvider, token: string, actor: Actor): Promise<void> {
    const claims = await this.verify(provider, token);
    const { jti, sid, sub: subject } = claims;
    if (typeof jti !== 'string' || !isIdentifier(sid) || !isIdentifier(subject)) refuse('malformed claims');
    if (sid === undefined && subject === undefined) refuse('neither sid nor sub');
    const sharing = this.sharing(provider);
    await this.transactions.run(async () => {
      // The token works once for all of these entries, whichever of their addresses it is sent to.
      const used = { provider: sharing[0]!, jtiDigest: digestOf(jti as string) };
      if (!(await this.tokens.use(used, KEPT_SECONDS))) refuse('used before');
      // If the token names both, the provider's session decides, provided that it belongs to that person.
      await this.sessions.endByProvider(sharing, { sid, subject } as Ended, actor);
    });
  }

  /** The ids of all entries with this client at the provider, which sends each logout token to one address only. */
  private sharing({ issuer, clientId }: IdentityProvider): string[] {
    const all = this.providerClients.ofIssuer(issuer.href);
    return all.filter((each) => each.clientId === clientId).map(({ id }) => id);
  }

  private async verify(provider: IdentityProvider, token: string): Promise<Claims> {
    try {
      const { metadata, keysForLogoutTokens: keys } = await this.providerClients.of(provider);
      const { payload, protectedHeader } = await jwtVerify<Claims>(token, orLater(keys), {
        issuer: metadata.issuer,
        audience: provider.clientId,
        algorithms: ASYMMETRIC_ALGORITHMS,
        clockTolerance: CLOCK_TOLERANCE_SECONDS,
        maxTokenAge: AGE_MAX_SECONDS,
        // Tokens of draft 06 have no `exp`: the age of `iat`, which `maxTokenAge` asks for, bounds them.
        requiredClaims: ['jti', 'events'],
      });
      const type = protectedHeader.typ;
      if (!TYPES.some((each) => each?.toLowerCase() === type?.toLowerCase())) refuse('another type of token');
      if (!isObject(payload.events) || !isObject(payload.events[EVENT])) refuse('no logout event');
      if (payload.nonce !== undefined) refuse('a nonce, as in an ID token');
      return payload;
    } catch (error) {
      const refusal = refusalOfError(error);
      this.logger.warn(`Logout token of ${provider.id} refused (${refusal.reason}): ${refusal.message}`);
      throw refusal;
    }
  }
}

/** The provider's keys. A key that is unknown during their cooldown may be new; a later call finds it. */
const orLater =
  (keys: Keys): JWTVerifyGetKey =>
  async (header, token) => {
    const isCoolingDown = keys.coolingDown;
    try {
      return await keys(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey) || !isCoolingDown) throw error;
      throw new SignInRefused('provider_unavailable', 'an unknown key, and the keys were read just before');
    }
  };

type Ended = { sid?: string; subject?: string };

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A claim that names a session or a person, or is not there. */
const isIdentifier = (value: unknown): boolean =>
  value === undefined || (typeof value === 'string' && value.isWellFormed() && !/^$|\0/.test(value));

function refuse(message: string): never {
  throw new SignInRefused('provider_answer_invalid', message);
}
