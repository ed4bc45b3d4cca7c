import type { OperatorRole } from '../../audit/operator-role.js';
import type { UserRole } from '../accounts/user.entity.js';

/** The user of a browser session, as pages need it. */
export interface SignedInUser {
  id: string;
  name: string;
  email: string;
  role: UserRole;
  /** Null unless the user is an operator. */
  operatorRole: OperatorRole | null;
  /** The digest of the session, for binding forms to it. */
  sessionDigest: Buffer;
  /** Whether the password was entered in this session within the last 15 minutes. */
  gavePasswordRecently: boolean;
  /** Whether the session was started with a second factor or a passkey, or by a provider, which is responsible for its factors. */
  gaveSecondFactor: boolean;
}
