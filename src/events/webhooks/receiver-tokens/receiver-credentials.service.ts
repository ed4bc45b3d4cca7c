import { Injectable } from '@nestjs/common';
import { Settings } from '#platform/config/settings.js';
import { validationFailed } from '#platform/http/problems/problem.js';
import { violation } from '#platform/http/problems/violation.js';
import { SealedBox } from '#platform/secrets/sealed-box.js';
import { shownCredentials, type ClientCredentials, type GivenCredentials } from './client-credentials.js';

/** As an endpoint has them: both, or neither. */
export interface StoredCredentials {
  authentication: ClientCredentials | null;
  sealedClientSecret: Buffer | null;
}

const NONE: StoredCredentials = { authentication: null, sealedClientSecret: null };

/**
 * The client secrets that get tokens for receivers (contract §22). They are stored sealed, each for one endpoint and one token endpoint, so
 * that no other URL can ever be sent the secret.
 */
@Injectable()
export class ReceiverCredentials {
  private readonly box: SealedBox;

  constructor({ encryptionKeys }: Settings) {
    this.box = new SealedBox('webhook receiver client secret', encryptionKeys);
  }

  /**
   * What is stored after a change. Without a secret the present one stays, if it is of the same client at the same (checked) token endpoint;
   * otherwise throws a 400 problem.
   */
  changed(
    endpointId: string,
    present: StoredCredentials = NONE,
    given: GivenCredentials | null,
    tokenUrl: string,
  ): StoredCredentials {
    if (given === null) return NONE;
    const authentication = shownCredentials(given, tokenUrl);
    const secret = given.client_secret ?? undefined;
    if (secret !== undefined) {
      return { authentication, sealedClientSecret: this.seal(endpointId, tokenUrl, secret) };
    }
    const { authentication: had, sealedClientSecret } = present;
    if (had?.token_url === tokenUrl && had.client_id === given.client_id) {
      return { authentication, sealedClientSecret };
    }
    throw validationFailed({ 'authentication.client_secret': [violation('missing_client_secret')] });
  }

  /** The secret in clear text; null without one, undefined if no configured key can decrypt it. */
  open(
    endpointId: string,
    { authentication, sealedClientSecret }: StoredCredentials,
  ): string | null | undefined {
    if (authentication === null || sealedClientSecret === null) return null;
    return this.box.open(sealedClientSecret, boundTo(endpointId, authentication.token_url));
  }

  /** The secret as stored, under the current key. */
  seal(endpointId: string, tokenUrl: string, secret: string): Buffer {
    return this.box.seal(secret, boundTo(endpointId, tokenUrl));
  }
}

const boundTo = (endpointId: string, tokenUrl: string): string => `${endpointId} ${tokenUrl}`;
