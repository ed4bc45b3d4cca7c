import type { Environment } from '#access/users/accounts/environment.js';

/** The portal that a link or a session opens. */
export interface OpenedPortal {
  clientId: string;
  clientName: string;
  clientLogoId: string | null;
  environment: Environment;
  ownerId: string;
  ownerName: string;
  /** The client's scopes. */
  scopes: string[];
  expiresAt: Date;
  /** By the database's clock. */
  secondsLeft: number;
}
