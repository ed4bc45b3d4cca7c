import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { crc32 } from 'node:zlib';

/**
 * Kinds of random secrets, and the prefixes that secret scanners match. (Access and refresh tokens are signed instead:
 * src/access/tokens/keys/token-record.ts.) A secret is the prefix + 43 base64url characters (256 random bits) + 6 characters (CRC-32 of what
 * precedes them).
 */
export const SECRET_PREFIXES = {
  authorizationCode: 'cds_ac_',
  clientSecret: 'cds_cs_',
  pushedRequest: 'cds_pr_',
  portalKey: 'cds_pk_',
  passwordKey: 'cds_pw_',
  emailKey: 'cds_ev_',
  signUpKey: 'cds_su_',
  session: 'cds_ss_',
  linkSession: 'cds_ps_',
  memberSession: 'cds_ms_',
  invitationKey: 'cds_iv_',
  exportKey: 'cds_de_',
  pendingSignIn: 'cds_sf_',
  passkeyChallenge: 'cds_pc_',
  signIn: 'cds_si_',
} as const;

export type SecretKind = keyof typeof SECRET_PREFIXES;

const RANDOM_BYTES = 32;
const BODY = /^[A-Za-z0-9_-]{49}$/;

const checksumOf = (text: string): string => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(crc32(text));
  return bytes.toString('base64url');
};

/** A new secret of this kind. */
export function newSecret(kind: SecretKind): string {
  const text = SECRET_PREFIXES[kind] + randomBytes(RANDOM_BYTES).toString('base64url');
  return text + checksumOf(text);
}

/** A new secret for a link, and the digest under which the link is stored. */
export function newLink(kind: SecretKind): { key: string; digest: Buffer } {
  const key = newSecret(kind);
  return { key, digest: digestOf(key) };
}

/** Whether the text has this kind's prefix, length and checksum, so that garbage is refused without a query. */
export function isSecret(kind: SecretKind, text: string): boolean {
  const prefix = SECRET_PREFIXES[kind];
  if (!text.startsWith(prefix) || !BODY.test(text.slice(prefix.length))) return false;
  return checksumOf(text.slice(0, -6)) === text.slice(-6);
}

/** The SHA-256 digest under which a random secret is stored and looked up: 32 bytes. */
export const digestOf = (secret: string): Buffer => hash('sha256', secret, 'buffer');

/** Compares two digests in constant time. */
export const sameDigest = (a: Buffer, b: Buffer): boolean => a.length === b.length && timingSafeEqual(a, b);
