import { PersonBrowser, type IdentityProvider } from '../identity-provider.js';
import { addApp } from '../second-factors.js';
import type { Stage } from './stage.js';

const SUBJECT = '248289761001';

/** How a user signs in besides the password: through an identity provider, and with a second factor. Both are removed again. */
export async function recordSignIn(stage: Stage, provider: IdentityProvider): Promise<void> {
  const { ada, company } = stage.cast;
  const { service } = stage;
  provider.people.set(SUBJECT, { email: ada.email, email_verified: true, name: ada.name });
  const passwords = 'SELECT password_hash FROM users WHERE id = $1';
  const [{ password_hash: before }] = (await service.database.query<{ password_hash: string }>(passwords, [
    ada.id,
  ])) as [{ password_hash: string }];
  await new PersonBrowser(service.url, provider.url).logIn(SUBJECT);
  // The first login there ends what opened the account before.
  await service.database.query('UPDATE users SET password_hash = $2 WHERE id = $1', [ada.id, before]);
  await addApp(await service.make.signedIn(ada));
  const path = { id: ada.id };
  await stage.operator('getAdminUser', 200, { path });
  await stage.operator('listIdentities', 200, { path });
  await stage.operator('removeIdentity', 204, { path: { ...path, provider: 'company' } });
  await stage.conflict('resetSecondFactor', { path: { id: company.id } });
  await stage.operator('resetSecondFactor', 204, { path });
}
