/** The WebAuthn library, loaded at the first use: most instances start without anybody who has a passkey. */
export const webauthn = () => import('@simplewebauthn/server');
