import { Secret, TOTP } from 'otpauth';

const PERIOD_SECONDS = 30;
/** Steps before and after the present one whose codes are accepted, for clocks that differ. */
const WINDOW = 1;
const SECRET_BYTES = 20;
const ISSUER = 'Charging Data Service';

/** Whether the text can be a code of an authenticator app. */
export const isOneTimePassword = (text: string): boolean => /^\d{6}$/.test(text);

/** A new secret in base32. */
export const newTotpSecret = (): string => new Secret({ size: SECRET_BYTES }).base32;

/** The address that authenticator apps read as a QR code. */
export const totpUri = (secret: string, email: string): string => totpOf(secret, email).toString();

/** The time step that the code belongs to; undefined for a wrong code, or one of another time. */
export function stepOfCode(secret: string, code: string): number | undefined {
  const now = Date.now();
  const difference = totpOf(secret).validate({ token: code, timestamp: now, window: WINDOW });
  return difference === null ? undefined : Math.floor(now / 1000 / PERIOD_SECONDS) + difference;
}

const totpOf = (secret: string, label = ''): TOTP =>
  new TOTP({
    issuer: ISSUER,
    label,
    secret: Secret.fromBase32(secret),
    algorithm: 'SHA1',
    digits: 6,
    period: PERIOD_SECONDS,
  });
