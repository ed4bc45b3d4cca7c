import { Controller, Post, Req, Res } from '@nestjs/common';
import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { KnownClient } from '#access/clients/client-with-secrets.js';
import { ApiEndpoint } from '#platform/http/api/api-answers.js';
import { listOf, oneOf, optional, text, whole } from '#platform/http/api/api-schemas.js';
import { Form } from '#platform/http/forms/form.js';
import { DpopProofs } from '#access/tokens/dpop/dpop-proofs.service.js';
import { AuthorizationRequestChecks } from '../authorization/authorization-request.checks.js';
import { ClientCredentialsForm } from '../client-credentials.form.js';
import { AuthenticatedClient, ClientAuthenticationGuard } from '../clients/client-authentication.guard.js';
import { ApiOAuthForm, OAuthCreated, OAuthEndpoint, OAuthForm } from '../oauth-endpoint.js';
import { invalidClient, invalidRequest, NO_STORE, OAuthError } from '../oauth-error.js';
import { keyOfProof } from '../proofs.js';
import { authorizationQueryOf, PUSHED_REQUEST_SECONDS, PushedRequests } from './pushed-requests.service.js';

const JKT = { pattern: '^[A-Za-z0-9_-]{43}$' };

/** The form of the endpoint, as described to callers: the parameters of the authorization page. */
class PushedRequestForm extends ClientCredentialsForm {
  @ApiProperty(oneOf('code'))
  response_type!: string;

  @ApiProperty(text('As registered; on a loopback address with any port.'))
  redirect_uri!: string;

  @ApiProperty(optional(text('Defaults to all scopes of the client.')))
  scope?: string;

  @ApiProperty(optional(text()))
  state?: string;

  @ApiProperty(optional(text(undefined, { pattern: '^[A-Za-z0-9_-]{43}$' })))
  code_challenge?: string;

  @ApiProperty(optional(oneOf('S256')))
  code_challenge_method?: string;

  @ApiProperty(optional(text('The thumbprint of a key that the code is bound to.', JKT)))
  dpop_jkt?: string;

  @ApiProperty(optional(text('The languages that the user may prefer, separated by spaces.')))
  ui_locales?: string;

  @ApiProperty(
    optional(listOf(text(), { description: 'What the tokens will be for (RFC 8707). May be repeated.' })),
  )
  resource?: string[];

  @ApiProperty(optional(text('How the user must have logged in (RFC 9470): `one_factor` or `two_factors`.')))
  acr_values?: string;

  @ApiProperty(optional(whole('How many seconds ago the user may have logged in.')))
  max_age?: number;
}

/** RFC 9126 §2.2. */
@ApiSchema({ name: 'PushedRequest' })
class PushedRequestView {
  @ApiProperty(text('For the authorization page, with `client_id`. Works for one decision.'))
  request_uri!: string;

  @ApiProperty(whole('Seconds within which the authorization page must be opened.', { example: 60 }))
  expires_in!: number;
}

/** Pushed authorization requests (RFC 9126, contract §4). */
@Controller('o/par')
export class ParController {
  constructor(
    private readonly checks: AuthorizationRequestChecks,
    private readonly requests: PushedRequests,
    private readonly proofs: DpopProofs,
  ) {}

  /** Checks the request as the authorization page would, and stores it. */
  @Post()
  @OAuthEndpoint(ClientAuthenticationGuard)
  @ApiEndpoint(
    'pushAuthorizationRequest',
    'Pushed authorization request (RFC 9126)',
    'Also with a trailing slash. The parameters of the authorization page, checked in the same way; the answer names the request there.',
  )
  @ApiOAuthForm(PushedRequestForm, [
    [400, 'Refused.'],
    [401, 'No valid credentials.'],
  ])
  @OAuthCreated('Stored.', PushedRequestView)
  async push(
    @OAuthForm() form: Form,
    @AuthenticatedClient() client: KnownClient,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<PushedRequestView> {
    // RFC 9126 §2.1: the parameter MUST NOT be there.
    if (form.get('request_uri') !== undefined) {
      throw invalidRequest('The parameter request_uri must not be in a pushed request.');
    }
    // RFC 9449 §10.1: a proof here binds the code as dpop_jkt does.
    const jkt = this.proofs.isIn(request) ? await keyOfProof(this.proofs, request) : undefined;
    const named = form.get('dpop_jkt');
    if (jkt !== undefined && named !== undefined && named !== jkt) {
      throw invalidRequest('The dpop_jkt is not the thumbprint of the key of the DPoP proof.');
    }
    const query = authorizationQueryOf(form, client.id, jkt);
    const checked = await this.checks.checkPushed(Form.parse(query));
    if (checked.outcome === 'page') throw invalidRequest(checked.detail);
    if (checked.outcome === 'redirect') throw new OAuthError(checked.error, checked.description);
    void reply.headers(NO_STORE);
    const requestUri = await this.requests.push(client.id, query);
    if (requestUri === undefined) throw invalidClient();
    return { request_uri: requestUri, expires_in: PUSHED_REQUEST_SECONDS };
  }
}
