import type { ClientIdentity } from '#platform/web/layout/client-identity.js';

/** A client that a user shares data with, as the user sees it. */
export interface ConnectedClient extends ClientIdentity {
  id: string;
  name: string;
  enabled: boolean;
  /** The user can connect it by authorizing it. */
  canBeAuthorized: boolean;
  /** What the user agreed to, as described in the scope catalogue. */
  descriptions: string[];
  connectedAt: Date;
  /** When the consent expires; null if never. */
  expiresAt: Date | null;
  /** The user can choose part of what it reads. */
  canBeChanged: boolean;
  /** The user can renew a consent that expires. */
  canBeRenewed: boolean;
  /** The id of the newest version of the consent in its record. */
  versionId: string | null;
  /** When it last got a token for this user; null if never, or not recently. */
  lastUsedAt: Date | null;
}
