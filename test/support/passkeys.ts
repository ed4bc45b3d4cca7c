import type { UserEntity } from '../../src/users/accounts/user.entity.js';
import { addPasskey } from './second-factors.js';
import { startService, type TestService } from './test-service.js';

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
  const own = {
    add: async (options) => addPasskey(await own.service.make.signedIn(own.user), own.service.url, options),
    passkeys: () =>
      own.service.database.query<PasskeyRow>(
        'SELECT id, name, sign_count, last_used_at FROM passkeys WHERE user_id = $1 ORDER BY id',
        [own.user.id],
      ),
    actions: async () => {
      const rows = await own.service.database.query<{ action: string }>(
        'SELECT action FROM audit_events WHERE subject_id = $1 ORDER BY id',
        [own.user.id],
      );
      return rows.map(({ action }) => action);
    },
  } as PasskeysSetUp;
  beforeAll(async () => void (own.service = await startService({ instances })));
  beforeEach(async () => void (own.user = await own.service.make.user()));
  afterAll(() => own.service.stop());
  return own;
}
