import type { ProofRefusal } from '#records/activity/activity.js';
import { refused, type RefusalMessage } from './refusal-message.js';

/** Of a proof of possession of a key, at the token endpoint, or with an access token. */
export const proofRefusals = (status: (code: string) => string): Record<ProofRefusal, RefusalMessage> => {
  const bad = (what: string, help: string) => refused(status('invalid_dpop_proof'), what, help);
  return {
    proof_missing: bad(
      'No DPoP proof',
      'The client, the code or the token requires a proof in the header DPoP. If the client should work without, set it so.',
    ),
    proof_malformed: bad(
      'Malformed DPoP proof',
      'It must be one header with a JWT of the type dpop+jwt, which has a jti of at most 256 characters.',
    ),
    proof_key: bad(
      'DPoP proof with another kind of key',
      'Its jwk must be a public key: EC P-256, Ed25519, or RSA of at least 2048 bits; alg is ES256, EdDSA or PS256.',
    ),
    proof_signature: bad(
      'DPoP proof with a wrong signature',
      'The key in its jwk does not verify it. It was truncated, changed, or signed with another key.',
    ),
    proof_of_another_request: bad(
      'DPoP proof for another request',
      'Its htm and htu must be the method and the public URL of the request, without the query.',
    ),
    proof_of_another_token: bad(
      'DPoP proof for another access token',
      'Its ath must be the SHA-256 digest of the access token that comes with it, in base64url.',
    ),
    proof_of_another_key: bad(
      'DPoP proof of another key',
      'The code or the token is bound to the key with which it was requested. Check for lost keys or a stolen token.',
    ),
    proof_time: bad(
      'DPoP proof with a wrong time',
      'Its iat must be at most 5 minutes old and 10 seconds ahead. Check the clock of the client.',
    ),
    proof_nonce: refused(
      status('use_dpop_nonce'),
      'DPoP proof without a current nonce',
      'The client has to repeat the request with the nonce of DPoP-Nonce. Once in a while this is normal.',
    ),
    proof_used: bad(
      'DPoP proof already used',
      'The client has to make a new one for each request, also when it repeats one; or someone stole it.',
    ),
  };
};
