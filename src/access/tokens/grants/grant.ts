import type { UserRole } from '#access/users/accounts/user.entity.js';
import type { GrantEntity } from './grant.entity.js';
import type { ClientIdentity } from '#platform/web/layout/client-identity.js';

/** The tokens issued to a client. Only here are tokens held in clear text, on their way out. */
export interface IssuedTokens {
  accessToken: string;
  /** Seconds. */
  expiresIn: number;
  scopes: string[];
  /** Absent for client credentials, as are the members below. */
  refreshToken?: string;
  /** Seconds until the refresh token ends if it is not used. */
  refreshExpiresIn?: number;
  /** Seconds until the grant ends: the user then has to authorize the client again. */
  authorizationExpiresIn?: number;
}

/** What a user gave a client in one authorization: the family of tokens issued from one code. */
export type Grant = Pick<GrantEntity, 'id' | 'clientId' | 'userId' | 'scopes'>;

/** An active grant in a list, with the names of its client and user. */
export interface GrantInList extends Grant {
  createdAt: Date;
  expiresAt: Date;
  clientName: string;
  userName: string;
  userRole: UserRole;
}

/** A scope that a user agreed to, in words. */
interface AccessOfClient {
  scope: string;
  words: string;
  /** The user may take it back and keep the rest. */
  optional: boolean;
}

/** A client that a user shares data with, as the user sees it. */
export interface ConnectedClient extends ClientIdentity {
  id: string;
  name: string;
  enabled: boolean;
  /** The user can connect it by authorizing it. */
  canBeAuthorized: boolean;
  /** What the user agreed to, as described in the scope catalogue. */
  access: AccessOfClient[];
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
