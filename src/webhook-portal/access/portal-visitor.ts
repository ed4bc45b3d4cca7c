import type { MemberRole } from '../../partners/members/member-role.js';
import type { SignedInUser } from '../../users/sessions/signed-in-user.js';
import type { OpenedPortal } from './opened-portal.js';

/** A browser logged in to the portal: the owner of the portal, and the session's digest for binding forms to it. */
export interface PortalVisitor extends OpenedPortal {
  sessionDigest: Buffer;
  /** With a one-time link: developer. */
  role: MemberRole;
  /** The logged-in member; undefined with a one-time link. */
  user?: SignedInUser;
}
