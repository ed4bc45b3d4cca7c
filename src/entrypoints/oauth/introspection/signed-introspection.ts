import type { FastifyReply, FastifyRequest } from 'fastify';
import type { SigningKeys } from '../metadata/signing-keys.js';

const TYPE = 'token-introspection+jwt';
export const SIGNED_INTROSPECTION = `application/${TYPE}`;

/** RFC 9701 §4: whether the caller asks for a JWT by name. */
const asksForJwt = ({ headers: { accept = '' } }: FastifyRequest): boolean =>
  accept.split(',').some((each) => {
    const [type, ...parameters] = each.split(';').map((part) => part.trim().toLowerCase());
    return type === SIGNED_INTROSPECTION && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
  });

/**
 * The answer as a JWT (RFC 9701 §5) for a caller that asks for one, and as it is for others. What is told of the token stands in
 * a claim of its own, so that nobody takes the answer for the token.
 */
export function signedIfAsked<Answer extends object>(
  answer: Answer,
  { sign }: SigningKeys,
  { issuer, caller }: { issuer: string; caller: string },
  request: FastifyRequest,
  reply: FastifyReply,
): Answer | Promise<string> {
  if (!sign || !asksForJwt(request)) return answer;
  const iat = Math.floor(Date.now() / 1000);
  void reply.header('content-type', SIGNED_INTROSPECTION);
  return sign({ iss: issuer, aud: caller, iat, token_introspection: answer }, TYPE);
}
