/** Only signatures with a private key of the provider: neither `none` nor a shared secret. */
export const ASYMMETRIC_ALGORITHMS = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
];

/** How far the clocks of a provider and this service may differ. */
export const CLOCK_TOLERANCE_SECONDS = 30;
