import type { MemberRole } from '#events/partners/members/member-role.js';
import type { SignedInUser } from '#access/users/sessions/signed-in-user.js';
import type { OpenedPortal } from './opened-portal.js';

/** A browser in a portal: the portal it has opened, and the session's digest, to which forms are bound. */
export interface PortalVisitor extends OpenedPortal {
  sessionDigest: Buffer;
  /** With a one-time link: developer. */
  role: MemberRole;
  /** The logged-in member; undefined with a one-time link. */
  user?: SignedInUser;
}
