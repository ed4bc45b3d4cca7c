import type { UserEntity } from '#access/users/accounts/user.entity.js';
import { actionsOn } from './audit-events.js';
import { setUpPasskey } from './factors-without-pages.js';
import type { SoftwarePasskey } from './software-passkey.js';
import { type TestService, useSharedService } from './test-service.js';

interface PasskeyRow {
  id: string;
  name: string;
  sign_count: string;
  last_used_at: Date | null;
}

export interface PasskeysSetUp {
  service: TestService;
  user: UserEntity;
  /** Adds a passkey of the user. */
  add(this: void, options?: { counts?: boolean; name?: string }): Promise<{ passkey: SoftwarePasskey }>;
  /** The user's passkeys. */
  passkeys(this: void): Promise<PasskeyRow[]>;
  /** What the audit log says about the user. */
  actions(this: void): Promise<string[]>;
}

/** A service for the tests; each has a new user. */
export function setUpPasskeys(instances = 1): PasskeysSetUp {
  const service = useSharedService({ instances });
  const own = {
    service,
    add: async (options) => ({
      passkey: await setUpPasskey(service, await service.make.signedIn(own.user), options),
    }),
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
