import { Injectable } from '@nestjs/common';
import type { JWTPayload } from 'jose';

export const SIGNED_WITH = 'EdDSA';

/** The port through which a feature that signs something for clients says where its public keys are. */
@Injectable()
export class SigningKeys {
  /** The path of a JWK Set (RFC 7517); undefined if nothing is signed. */
  path: string | undefined;
  /** Signs claims as a JWT of this `typ`; undefined if nothing is signed. Its algorithm is {@link SIGNED_WITH}. */
  sign: ((claims: JWTPayload, typ: string) => Promise<string>) | undefined;
}
