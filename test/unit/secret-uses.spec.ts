import type { HttpAdapterHost } from '@nestjs/core';
import type { ActivityService } from '../../src/activity/activity.service.js';
import type { ClientEntity } from '../../src/clients/client.entity.js';
import { ClientAuthenticationService } from '../../src/clients/client-authentication.service.js';
import type { ClientsRepository } from '../../src/clients/clients.repository.js';
import type { KnownClientsService } from '../../src/clients/known-clients.service.js';
import type { SecretUse, SecretUsesRepository } from '../../src/clients/secret-uses.repository.js';
import { SecretUsesService } from '../../src/clients/secret-uses.service.js';
import { newId } from '../../src/secrets/ids.js';
import { digestOf } from '../../src/secrets/tokens.js';

const SECRET = 'a secret of at least 32 characters';

it('A secret that is used all the time is written once an hour, not at every flush', async () => {
  jest.useFakeTimers({ now: Date.UTC(2026, 0, 1, 12, 30), doNotFake: ['nextTick', 'queueMicrotask'] });
  const written: SecretUse[] = [];
  const uses = new SecretUsesService(
    { note: async (used: SecretUse[]) => void written.push(...used) } as SecretUsesRepository,
    {} as HttpAdapterHost,
  );
  const client = { id: newId('clnt'), type: 'confidential', enabled: true } as unknown as ClientEntity;
  // As the service keeps a client: one object for each digest, for as long as it is in memory.
  const kept = { client, secretDigests: [digestOf(SECRET)] };
  const authentication = new ClientAuthenticationService(
    {} as ClientsRepository,
    { find: async () => kept } as unknown as KnownClientsService,
    {} as ActivityService,
    uses,
  );
  const use = async () => {
    const credentials = { clientId: client.id, clientSecret: SECRET };
    expect(await authentication.authenticate(credentials)).toBe(client);
    await uses.flush();
  };
  await use();
  await use();
  expect(written).toEqual([{ clientId: client.id, digest: digestOf(SECRET) }]);
  jest.setSystemTime(Date.UTC(2026, 0, 1, 13));
  await use();
  expect(written).toHaveLength(2);
  jest.useRealTimers();
});
