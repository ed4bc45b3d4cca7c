import { Injectable } from '@nestjs/common';

/** The port through which a feature that signs something for clients says where its public keys are. */
@Injectable()
export class SigningKeys {
  /** The path of a JWK Set (RFC 7517); undefined if nothing is signed. */
  path: string | undefined;
}
