import type { DpopProofs, RequestWithProof } from '#access/tokens/dpop/dpop-proofs.service.js';
import { proofHeaders, refusedProof, type RefusedProof } from '#access/tokens/dpop/proof-claims.js';
import { OAuthError } from './oauth-error.js';

/** A proof that is refused at an OAuth endpoint (RFC 9449 §5 and §8). */
const proofError = (proof: RefusedProof, status = 400, headers: Record<string, string> = {}): OAuthError =>
  new OAuthError(
    proof.nonce === undefined ? 'invalid_dpop_proof' : 'use_dpop_nonce',
    proof.description,
    status,
    { ...headers, ...proofHeaders(proof) },
    proof.refused,
  );

/** The thumbprint of the key of a request's proof, which must be there. Throws 400 `invalid_dpop_proof` or `use_dpop_nonce`. */
export async function keyOfProof(proofs: DpopProofs, request: RequestWithProof): Promise<string> {
  const checked = await proofs.check(request);
  if ('refused' in checked) throw proofError(checked);
  return checked.jkt;
}

/** Throws 400 `invalid_dpop_proof` unless the proof of the request, if any, was made with this key, or there is none where none is due. */
export function requireKey(due: string | undefined, jkt: string | undefined): void {
  if (due === jkt) return;
  throw proofError(
    jkt === undefined
      ? refusedProof('proof_missing', 'A DPoP proof is required: the code or the token is bound to a key.')
      : refusedProof(
          'proof_of_another_key',
          'The code or the token is not bound to the key of the DPoP proof.',
        ),
  );
}
