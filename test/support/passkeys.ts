import type { UserEntity } from '../../src/users/accounts/user.entity.js';
import { actionsOn } from './audit-events.js';
import { addPasskey } from './second-factors.js';
import { type TestService, useService } from './test-service.js';

interface PasskeyRow {
  id: string;
  name: string;
  sign_count: string;
  last_used_at: Date | null;
}

export interface PasskeysSetUp {
  service: TestService;
  user: UserEntity;
  /** Adds a passkey of the user on the account page. */
  add(this: void, options?: { counts?: boolean; name?: string }): ReturnType<typeof addPasskey>;
  /** The user's passkeys. */
  passkeys(this: void): Promise<PasskeyRow[]>;
  /** What the audit log says about the user. */
  actions(this: void): Promise<string[]>;
}

/** A service for the tests of a file; each test has a new user. */
export function setUpPasskeys(instances = 1): PasskeysSetUp {
  const service = useService({ instances });
  const own = {
    service,
    add: async (options) => addPasskey(await service.make.signedIn(own.user), service.url, options),
    passkeys: () =>
      service.database.query<PasskeyRow>(
        'SELECT id, name, sign_count, last_used_at FROM passkeys WHERE user_id = $1 ORDER BY id',
        [own.user.id],
      ),
    actions: () => actionsOn(service, own.user.id),
  } as PasskeysSetUp;
  beforeEach(async () => void (own.user = await service.make.user()));
  return own;
}
