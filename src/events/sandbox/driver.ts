import type { Environment } from '#access/users/accounts/environment.js';

/** Whose sandbox it is, and for which of its clients something is done. */
export interface Sandbox {
  clientId: string;
  ownerId: string;
}

/** A driver as a client of the sandbox sees it. */
export interface Driver {
  id: string;
  name: string;
  seed: number;
  /** What the driver shares with the client; empty without a consent. */
  scopes: string[];
  hasConsent: boolean;
  /** Whether a session runs. */
  isRunning: boolean;
  /** The time that its last event will bear; null if none runs. */
  endsAt: Date | null;
  /** How many events wait to be published. */
  waiting: number;
}

/** Contract §19. */
export const DRIVERS_PER_OWNER = 50;
export const WAITING_PER_OWNER = 2_000;
export const SEED_MAX = 2 ** 31 - 1;
export const PAST_DAYS_MAX = 30;
export const BURST_MAX = 500;
export const SPEEDS = [1, 60] as const;
export type Speed = (typeof SPEEDS)[number];

/** The sandbox of a client; undefined for a live one. */
export const sandboxOf = (client: {
  id: string;
  ownerId: string;
  environment: Environment;
}): Sandbox | undefined =>
  client.environment === 'sandbox' ? { clientId: client.id, ownerId: client.ownerId } : undefined;
