import { Injectable } from '@nestjs/common';
import {
  compactVerify,
  decodeJwt,
  decodeProtectedHeader,
  type JWTPayload,
  type ProtectedHeaderParameters,
} from 'jose';
import type { CredentialsRefusal, Refusable } from '#records/activity/activity.js';
import { ClientAuthenticationService } from '#access/clients/client-authentication.service.js';
import { usesKeys } from '#access/clients/client.entity.js';
import type { KnownClient } from '#access/clients/client-with-secrets.js';
import { ACCEPTED_ALGORITHMS } from '#access/clients/keys/jwk-set.js';
import { UsedProofs } from '#access/clients/proofs/used-proofs.service.js';
import { SecretUsesService } from '#access/clients/secret-uses.service.js';
import { Settings } from '#platform/config/settings.js';
import { AccessChanges } from '#platform/database/changes/access-changes.service.js';
import type { Form } from '#platform/http/forms/form.js';
import { invalidClient, invalidRequest, type OAuthError } from '../oauth-error.js';
import { claimsRefusal } from './assertion-claims.js';
import { ClientKeySets, type VerificationKey } from './client-key-sets.service.js';

const JWT_BEARER = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

interface Assertion {
  token: string;
  header: ProtectedHeaderParameters;
  claims: JWTPayload;
}

/** Client authentication by a signed assertion (RFC 7523 §2.2, FAPI 2.0 §5.3.2.1), each of which is accepted once. */
@Injectable()
export class ClientAssertions {
  constructor(
    private readonly clients: ClientAuthenticationService,
    private readonly keys: ClientKeySets,
    private readonly proofs: UsedProofs,
    private readonly uses: SecretUsesService,
    private readonly changes: AccessChanges,
    private readonly settings: Settings,
  ) {}

  /** Whether a request means to authenticate with an assertion. Throws 400 `invalid_request` if it also does in another way. */
  isIn(form: Form, authorization: string | undefined): boolean {
    const isThere =
      form.get('client_assertion') !== undefined || form.get('client_assertion_type') !== undefined;
    if (isThere && (authorization !== undefined || form.get('client_secret') !== undefined)) {
      throw invalidRequest('The client authenticated twice: with an assertion, and in another way.');
    }
    return isThere;
  }

  /**
   * The client whose assertion the form has. Throws 401 `invalid_client`, which says what is wrong only to the holder of the key, or 400
   * `invalid_request`.
   */
  async authenticate(form: Form, request: Refusable): Promise<KnownClient> {
    const token = form.get('client_assertion');
    const type = form.get('client_assertion_type');
    if (token === undefined || type === undefined) {
      throw invalidRequest('The parameters client_assertion and client_assertion_type belong together.');
    }
    const assertion = type === JWT_BEARER ? read(token) : undefined;
    if (!assertion) throw this.refuse('assertion_malformed', undefined, request);
    const { iss, sub } = assertion.claims;
    const clientId = form.get('client_id') ?? sub;
    if (typeof sub !== 'string' || iss !== sub || clientId !== sub) {
      throw this.refuse('assertion_malformed', undefined, request);
    }
    const client = (await this.clients.findWorking(sub, request))?.client;
    if (!client) throw invalidClient();
    if (!usesKeys(client)) throw this.refuse('assertion_of_client_with_secret', client, request);
    const { thumbprint } = await this.verify(assertion, client, request);
    const now = this.changes.databaseNow / 1000;
    const wrong = claimsRefusal(assertion.claims, this.settings.baseUrl, now);
    if (wrong) throw this.refuse(wrong.reason, client, request, wrong.description);
    const { jti, exp } = assertion.claims;
    if (!(await this.proofs.use(['client assertion', client.id, jti!], exp! - now))) {
      throw this.refuse('assertion_used', client, request, 'An assertion with this jti was used already.');
    }
    this.uses.note(client.id, thumbprint, true);
    return client;
  }

  /** The key that verifies the assertion. */
  private async verify(
    assertion: Assertion,
    client: KnownClient,
    request: Refusable,
  ): Promise<VerificationKey> {
    if (!ACCEPTED_ALGORITHMS.includes(assertion.header.alg!)) {
      throw this.refuse('assertion_algorithm', client, request);
    }
    const known = await this.keys.of(client);
    if (!known) throw this.refuse('assertion_keys_unavailable', client, request);
    const found = await verifiedBy(assertion, known);
    if (found) return found;
    // The client may have replaced its keys.
    const fresh = await this.keys.again(client);
    const replaced = fresh && fresh !== known ? await verifiedBy(assertion, fresh) : undefined;
    if (replaced) return replaced;
    const isKnown = (fresh ?? known).some((key) => isNamedBy(assertion, key));
    throw this.refuse(isKnown ? 'assertion_signature' : 'assertion_key_unknown', client, request);
  }

  private refuse(
    reason: CredentialsRefusal,
    client: KnownClient | undefined,
    request: Refusable,
    description?: string,
  ): OAuthError {
    this.clients.countRefusal(reason, client, request);
    return invalidClient(description);
  }
}

/** The contents of an assertion, before anything of it is verified; undefined if it is no signed JWT, or needs what is not understood. */
function read(token: string): Assertion | undefined {
  try {
    const header = decodeProtectedHeader(token);
    if (header.crit !== undefined || header.b64 !== undefined) return undefined;
    return { token, header, claims: decodeJwt(token) };
  } catch {
    return undefined;
  }
}

const isNamedBy = ({ header }: Assertion, { kid }: VerificationKey): boolean =>
  header.kid === undefined || header.kid === kid;

async function verifiedBy(
  assertion: Assertion,
  keys: readonly VerificationKey[],
): Promise<VerificationKey | undefined> {
  for (const key of keys) {
    if (isNamedBy(assertion, key) && (await isVerified(assertion.token, key))) return key;
  }
  return undefined;
}

const isVerified = (token: string, { get }: VerificationKey): Promise<boolean> =>
  compactVerify(token, get, { algorithms: ACCEPTED_ALGORITHMS }).then(
    () => true,
    () => false,
  );
