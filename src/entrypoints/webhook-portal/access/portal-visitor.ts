import type { MemberRole } from '#events/partners/members/member.js';
import type { SignedInUser } from '#access/users/sessions/signed-in-user.js';
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

/** A browser in a portal: the portal it has opened, and the session's digest, to which forms are bound. */
export interface PortalVisitor extends OpenedPortal {
  sessionDigest: Buffer;
  /** With a one-time link: developer. */
  role: MemberRole;
  /** The logged-in member; undefined with a one-time link. */
  user?: SignedInUser;
}
