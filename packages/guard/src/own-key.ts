import { hash, randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { SignJWT, type JWK } from 'jose';

const PUBLIC_MEMBERS = ['kty', 'crv', 'x', 'y', 'n', 'e'] as const;

/** The guard's own private key, to which its own tokens are bound (RFC 9449). */
export class OwnKey {
  private readonly alg: string;
  private readonly publicKey: JWK;
  /** The last nonce of the service; proofs have it. */
  nonce: string | undefined;

  /** Throws a TypeError unless it is a private JWK: EC P-256, Ed25519 or RSA. */
  constructor(private readonly key: JWK) {
    const alg = typeof key.d === 'string' ? algorithmOf(key) : undefined;
    if (alg === undefined) throw new TypeError('dpopKey must be a private JWK: EC P-256, Ed25519 or RSA');
    this.alg = alg;
    this.publicKey = Object.fromEntries(
      PUBLIC_MEMBERS.flatMap((name) => (key[name] === undefined ? [] : [[name, key[name]]])),
    );
  }

  /** A proof for one request, with a token if it carries one. */
  proof(method: string, url: string, token?: string): Promise<string> {
    return new SignJWT({
      ...{ jti: randomUUID(), htm: method, htu: url },
      ...(token === undefined ? {} : { ath: hash('sha256', token, 'base64url') }),
      ...(this.nonce === undefined ? {} : { nonce: this.nonce }),
    })
      .setIssuedAt()
      .setProtectedHeader({ typ: 'dpop+jwt', alg: this.alg, jwk: this.publicKey })
      .sign(this.key);
  }

  /** Keeps the nonce of an answer; returns whether it is another one than that of its request. */
  take({ 'dpop-nonce': found }: IncomingHttpHeaders, asked: string | undefined): boolean {
    if (typeof found !== 'string') return false;
    this.nonce = found;
    return found !== asked;
  }
}

function algorithmOf({ kty, crv }: JWK): string | undefined {
  if (kty === 'RSA') return 'PS256';
  if (kty === 'EC' && crv === 'P-256') return 'ES256';
  return kty === 'OKP' && crv === 'Ed25519' ? 'EdDSA' : undefined;
}
