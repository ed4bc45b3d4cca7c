import type { UserRole } from '../accounts/user.entity.js';
import type { SignInMethod } from './sign-in-method.js';

/** The user of a browser session, as pages need it. */
export interface SignedInUser {
  id: string;
  name: string;
  email: string;
  role: UserRole;
  /** The digest of the session, for binding forms to it. */
  sessionDigest: Buffer;
  /** How the session was started. */
  method: SignInMethod['method'];
  /** The identity provider that the session came from, by its id in the settings. */
  provider: string | null;
  /**
   * Whether the password was entered in this session within the last 15 minutes; for a session from a provider, whether the person
   * authenticated there within that time.
   */
  gavePasswordRecently: boolean;
}
