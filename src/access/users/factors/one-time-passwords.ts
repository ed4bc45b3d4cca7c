import { Secret, TOTP } from 'otpauth';

const PERIOD_SECONDS = 30;
/** Steps before and after the present one whose codes are accepted, for clocks that differ. */
const WINDOW = 1;
const SECRET_BYTES = 20;

/** Whether the text can be a code of an authenticator app. */
export const isOneTimePassword = (text: string): boolean => /^\d{6}$/.test(text);

/** A new secret in base32. */
export const newTotpSecret = (): string => new Secret({ size: SECRET_BYTES }).base32;

/** The address that authenticator apps read as a QR code; `issuer`: who they say the code is for. */
export const totpUri = (secret: string, email: string, issuer: string): string =>
  // A colon divides the issuer from the account.
  totpOf(secret, { label: email, issuer: issuer.replaceAll(':', ' ') }).toString();

/** The time step that the code belongs to; undefined for a wrong code, or one of another time. */
export function stepOfCode(secret: string, code: string): number | undefined {
  const now = Date.now();
  const difference = totpOf(secret).validate({ token: code, timestamp: now, window: WINDOW });
  return difference === null ? undefined : Math.floor(now / 1000 / PERIOD_SECONDS) + difference;
}

const totpOf = (secret: string, shown: { label: string; issuer?: string } = { label: '' }): TOTP =>
  new TOTP({
    ...shown,
    secret: Secret.fromBase32(secret),
    algorithm: 'SHA1',
    digits: 6,
    period: PERIOD_SECONDS,
  });
