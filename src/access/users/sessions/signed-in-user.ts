import type { OperatorRole } from '#platform/config/operator-role.js';
import type { Language } from '#platform/language/languages.js';
import type { UserRole } from '../accounts/user.entity.js';
import type { SignInMethod } from './session.entity.js';

/** The user of a browser session, for pages. */
export interface SignedInUser {
  id: string;
  name: string;
  email: string;
  language: Language | null;
  role: UserRole;
  /** Null unless the user is an operator. */
  operatorRole: OperatorRole | null;
  hasPassword: boolean;
  /** The digest of the session, for binding forms to it. */
  sessionDigest: Buffer;
  /** The login that the session belongs to: it stays the same when the user authenticates again, which gives the session a new id. */
  loginId: string;
  /** How the session was started. */
  method: SignInMethod['method'];
  /** The identity provider that the session came from, by its id in the settings. */
  provider: string | null;
  /**
   * Whether the password was entered in this session within the last 15 minutes; for a session from a provider, whether the person
   * authenticated there within that time.
   */
  gavePasswordRecently: boolean;
  /** Whether the session was started with a second factor or a passkey, or by a provider, which is responsible for its factors. */
  gaveSecondFactor: boolean;
  /** Whether a second factor or a passkey was given here. */
  usedSecondFactor: boolean;
  /** When the person last authenticated; null for a session from a provider that does not say so. */
  authenticatedAt: Date | null;
}
