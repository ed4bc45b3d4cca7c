import type { Actor } from '#records/audit/audit.service.js';
import { PageContext } from '#platform/http/page-routes/page-context.js';
import { visitorOf } from '#platform/http/server/request-origin.js';
import type { SignedInUser } from './signed-in-user.js';

/** A page request of a logged-in user, after the guard. */
export abstract class UserPageContext<Page> extends PageContext<Page> {
  abstract readonly user: SignedInUser;

  /** The actor for the audit log, with the session that admits the request. */
  get actor(): Actor {
    const { id, sessionDigest } = this.user;
    return { ...visitorOf(this.request), id, sessionDigest };
  }

  /** The path identifies the action and its object. */
  protected bindingIn(path: string): string {
    return bindingOfUser(this.area.name, path, this.user);
  }
}

/** What the forms of an area for logged-in users are bound to. */
export const bindingOfUser = (area: string, path: string, { sessionDigest }: SignedInUser): string =>
  `${area} ${path} ${sessionDigest.toString('base64url')}`;
