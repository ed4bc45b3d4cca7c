import { Controller, Post, Req, Res } from '@nestjs/common';
import { ApiExtension, ApiSecurity, ApiProperty, ApiSchema } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Settings } from '#platform/config/settings.js';
import { AccessChanges } from '#platform/database/changes/access-changes.service.js';
import { ApiEndpoint } from '#platform/http/api/api-answers.js';
import type { Form } from '#platform/http/forms/form.js';
import { isLate } from '#platform/http/guards/late-judgement.js';
import { USER_ID_PATTERN } from '#platform/secrets/ids.js';
import { AccessTokensService } from '#access/tokens/access/access-tokens.service.js';
import { intersection, type Access, type Principal } from '#access/tokens/access/principal.js';
import { KnownClientsService } from '#access/clients/known-clients.service.js';
import { KnownResources } from '#access/clients/resources/known-resources.service.js';
import { realmOf } from '#access/users/accounts/environment.js';
import { optional, text, oneOf, whole } from '#platform/http/api/api-schemas.js';
import { ApiOAuthForm, OAuthAnswers, OAuthEndpoint, OAuthForm } from '../oauth-endpoint.js';
import { ACRS } from '../authorization/authentication-request.js';
import { invalidRequest, NO_STORE } from '../oauth-error.js';
import { introspected } from '../oauth-metrics.js';
import { SigningKeys } from '../metadata/signing-keys.js';
import { SIGNED_INTROSPECTION, signedIfAsked } from './signed-introspection.js';
import { IntrospectionGuard } from './introspection.guard.js';
import { ClientCredentialsForm } from '../client-credentials.form.js';

/** A token that is not valid (RFC 7662 §2.2): the answer says no more. */
@ApiSchema({ name: 'InactiveToken' })
class InactiveToken {
  @ApiProperty({ type: 'boolean', enum: [false] }) active!: false;
}

/** What a bound token is bound to (RFC 9449 §6.2). */
@ApiSchema({ name: 'Confirmation' })
class Confirmation {
  @ApiProperty(
    text('The SHA-256 thumbprint of the key (RFC 7638), which a request with the token has to prove.'),
  )
  jkt!: string;
}

/** A valid access token (RFC 7662 §2.2); times in seconds since 1970. */
@ApiSchema({ name: 'ActiveToken' })
class ActiveToken {
  @ApiProperty({ type: 'boolean', enum: [true] }) active!: true;
  @ApiProperty(text()) scope!: string;
  @ApiProperty(text()) client_id!: string;
  @ApiProperty(text('The id of the user; for client credentials that of the client.')) sub!: string;

  @ApiProperty(oneOf('authorization_code', 'client_credentials'))
  grant_type!: 'authorization_code' | 'client_credentials';

  @ApiProperty(oneOf('Bearer', 'DPoP')) token_type!: 'Bearer' | 'DPoP';

  @ApiProperty(optional({ type: () => Confirmation }))
  cnf?: Confirmation;

  @ApiProperty(whole()) exp!: number;
  @ApiProperty(whole()) iat!: number;

  @ApiProperty(
    optional(
      whole(
        'Seconds until the user has to authorize the client again, as known when the token was issued; only for a user’s token.',
      ),
    ),
  )
  authorization_expires_in?: number;

  @ApiProperty(text()) iss!: string;

  @ApiProperty({
    required: false,
    description:
      'The resources that the token is for (RFC 8707): one, or a list. Absent if it is for everybody.',
    oneOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }],
  })
  aud?: string | string[];

  @ApiProperty(
    optional(
      whole(
        'When the user logged in; only if the client asked for it with `acr_values` or `max_age` (RFC 9470).',
      ),
    ),
  )
  auth_time?: number;

  @ApiProperty(optional(oneOf(...ACRS)))
  acr?: string;
}

/** The form of the introspection endpoint, as described to callers. */
class IntrospectionForm extends ClientCredentialsForm {
  @ApiProperty(text()) token!: string;
  @ApiProperty(optional(text())) token_type_hint?: string;

  @ApiProperty(optional(text('If given, `scope` is what the token may do with the data of this user.')))
  user_id?: string;
}

/** The calling client, authenticated by its credentials or its own token. */
const callerOf = ({ oauthClient, principal }: FastifyRequest) => oauthClient ?? principal!.client;

/** A valid token, and what it may do: at all, or with the data of the user in the request. */
interface Found {
  principal: Principal;
  access: Access;
}

const seconds = (time: Date): number => Math.floor(time.getTime() / 1000);

/** Token introspection (RFC 7662, contract §5) for the company's other services. */
@Controller('o/introspect')
export class IntrospectionController {
  constructor(
    private readonly accessTokens: AccessTokensService,
    private readonly clients: KnownClientsService,
    private readonly resources: KnownResources,
    private readonly changes: AccessChanges,
    private readonly settings: Settings,
    private readonly signing: SigningKeys,
  ) {}

  /**
   * What a valid access token may do; for anything else exactly `{"active": false}`. With `user_id`, `scope` is what the token
   * may do with that user's data, which is how a data service applies consent, and `exp` of a client's own token is no later than
   * the end of that consent: who remembers the answer hears of that end only once it was noticed.
   */
  @Post()
  @OAuthEndpoint(IntrospectionGuard, { limitClients: false })
  @ApiEndpoint(
    'introspect',
    'Introspection (RFC 7662)',
    'For a client with `token:introspect`. Also without the trailing slash. A token that is not valid is answered with 200 and `active: false`: a gateway that decides by the status, such as `auth_request` of nginx, must ask `charging-data-guard` instead (docs/gateways.md).',
  )
  @ApiExtension('x-trailing-slash', true)
  @ApiSecurity('oauth2', ['token:introspect'])
  @ApiOAuthForm(IntrospectionForm, [
    [400, 'Refused.'],
    [401, 'No valid credentials.'],
    [403, 'The credentials do not allow this.'],
  ])
  @OAuthAnswers(
    'What the token may do; anything but a valid access token is not active.',
    [InactiveToken, ActiveToken],
    {
      [SIGNED_INTROSPECTION]: {
        schema: text('The same in the claim `token_introspection` (RFC 9701).'),
        example: 'eyJhbGciOiJFZERTQSJ9.eyJ0b2tlbl9pbnRyb3NwZWN0aW9uIjp7fX0.c2lnbmF0dXJl',
      },
    },
  )
  async introspect(
    @OAuthForm() form: Form,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ActiveToken | InactiveToken | string> {
    const token = form.get('token');
    if (token === undefined) throw invalidRequest('The parameter token is required.');
    const userId = form.get('user_id');
    if (userId !== undefined && !USER_ID_PATTERN.test(userId)) {
      throw invalidRequest('The parameter user_id must be the id of a user.');
    }
    void reply.headers(NO_STORE);
    const caller = callerOf(request);
    let found = await this.find(token, userId, caller);
    // Contract §4: the token may have ended while the answer waited for the database.
    if (found && isLate(reply)) found = await this.judgedAgain(found, token, caller);
    introspected[found ? 'active' : 'inactive'].inc();
    const answer: ActiveToken | InactiveToken = found ? this.describe(found) : { active: false };
    const between = { issuer: this.settings.baseUrl, caller: caller.id };
    return signedIfAsked(answer, this.signing, between, request, reply);
  }

  private async find(
    token: string,
    userId: string | undefined,
    caller: ReturnType<typeof callerOf>,
  ): Promise<Found | undefined> {
    const principal = await this.judged(token, caller);
    if (!principal) return undefined;
    const access = userId === undefined ? principal : await this.accessTokens.accessTo(userId, principal);
    return { principal, access };
  }

  private async judged(token: string, caller: ReturnType<typeof callerOf>): Promise<Principal | undefined> {
    const principal = await this.accessTokens.findForAnyone(token);
    // Contract §19: tokens of another environment, or of another owner's sandbox, are unknown to the caller.
    if (!principal || realmOf(principal.client) !== realmOf(caller)) return undefined;
    const aud = principal.additions?.aud;
    return aud && !(await this.standsForOneOf(aud, caller.id)) ? undefined : principal;
  }

  /** RFC 7662 §2.2: a token that is not for the caller is not active for it. */
  private async standsForOneOf(resources: readonly string[], clientId: string): Promise<boolean> {
    const known = await this.clients.find(clientId);
    return known !== undefined && this.resources.of(known.client).some((each) => resources.includes(each));
  }

  /** The same without another read of the consent, which may take as long again. */
  private async judgedAgain(
    { access }: Found,
    token: string,
    caller: ReturnType<typeof callerOf>,
  ): Promise<Found | undefined> {
    const principal = await this.judged(token, caller);
    if (!principal) return undefined;
    const expiresAt = new Date(Math.min(access.expiresAt.getTime(), principal.expiresAt.getTime()));
    return { principal, access: { scopes: intersection(access.scopes, principal.scopes), expiresAt } };
  }

  private describe({ principal, access }: Found): ActiveToken {
    const { grantEndsAt, jkt, additions: { aud, ...login } = {} } = principal;
    const { databaseNow: now } = this.changes;
    return {
      active: true,
      scope: access.scopes.join(' '),
      client_id: principal.client.id,
      sub: principal.userId ?? principal.client.id,
      grant_type: principal.userId === undefined ? 'client_credentials' : 'authorization_code',
      token_type: jkt === undefined ? 'Bearer' : 'DPoP',
      ...(jkt === undefined ? {} : { cnf: { jkt } }),
      exp: seconds(access.expiresAt),
      iat: seconds(principal.issuedAt),
      ...(grantEndsAt === undefined
        ? {}
        : { authorization_expires_in: Math.max(0, Math.floor((grantEndsAt - now) / 1000)) }),
      iss: this.settings.baseUrl,
      ...(aud && { aud: aud.length === 1 ? aud[0] : aud }),
      ...login,
    };
  }
}
