import type { Actor } from '../audit/audit.service.js';
import { PageContext } from '../http/page-routes/page-context.js';
import { originOf } from '../http/request-origin.js';
import { LOGOUT_BINDING } from './logout-binding.js';
import type { SignedInUser } from './sessions.repository.js';

/** The data of the layout around every page of a logged-in user. */
export interface UserLayoutProps {
  user: { name: string; email: string };
  logoutToken: string;
  /** The message about what was just done. */
  notice?: string;
}

/** A request of a logged-in user, after the guard of the pages. */
export abstract class UserPageContext extends PageContext {
  abstract readonly user: SignedInUser;

  protected get sessionDigest(): Buffer {
    return this.user.sessionDigest;
  }

  /** The actor for the audit log. */
  get actor(): Actor {
    return { type: 'user', id: this.user.id, ...originOf(this.request) };
  }

  /** The data of the layout; a notice left by a form is shown once. */
  get layoutProps(): UserLayoutProps {
    const { name, email } = this.user;
    const logoutToken = this.csrf.tokenFor(this.request, this.reply, LOGOUT_BINDING);
    return { user: { name, email }, logoutToken, notice: this.takeNotice() };
  }
}
