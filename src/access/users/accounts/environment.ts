export const ENVIRONMENTS = ['live', 'sandbox'] as const;
/** Live, or a partner's sandbox (contract §19). */
export type Environment = (typeof ENVIRONMENTS)[number];

/** The realm of everything that is live. */
export const LIVE_REALM = 'live';

/** `live`, or the id of the owner whose sandbox it is. The database joins nothing whose realms differ. */
export const realmOf = ({ environment, ownerId }: { environment: Environment; ownerId: string }): string =>
  environment === 'sandbox' ? ownerId : LIVE_REALM;
