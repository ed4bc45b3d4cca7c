import { BrokenIdentityProvider } from './broken-identity-provider.js';
import { CLIENT_ID, CLIENT_SECRET } from './identity-provider.js';
import { madeOnce } from './made.js';
import { startService, type TestService, type TestServiceOptions } from './test-service.js';

/** An identity provider that fails as it is told, and a service whose users log in through it. */
export function useBrokenProvider({
  id = 'company',
  label = 'Example Company',
  instances = 1,
  databaseOptions,
}: Pick<TestServiceOptions, 'instances' | 'databaseOptions'> & { id?: string; label?: string } = {}): {
  idp: BrokenIdentityProvider;
  service: TestService;
} {
  const idp = madeOnce(() => BrokenIdentityProvider.open());
  const service = madeOnce(() => {
    const provider = {
      ...{ id, label, issuer: idp.url, client_id: CLIENT_ID, client_secret: CLIENT_SECRET },
      ...{ audience: ['users'], accounts: 'create' },
    };
    const env = { IDENTITY_PROVIDERS: JSON.stringify([provider]) };
    return startService({ env, instances, databaseOptions });
  });
  afterAll(async () => {
    await service.stop();
    await idp.close();
  });
  return { idp, service };
}
