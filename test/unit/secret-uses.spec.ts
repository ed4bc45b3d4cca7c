import type { HttpAdapterHost } from '@nestjs/core';
import type { ActivityService } from '#records/activity/activity.service.js';
import type { ClientEntity } from '#access/clients/client.entity.js';
import { ClientAuthenticationService } from '#access/clients/client-authentication.service.js';
import type { ClientsRepository } from '#access/clients/clients.repository.js';
import type { KnownClientsService } from '#access/clients/known-clients.service.js';
import type { SecretUse, SecretUsesRepository } from '#access/clients/secret-uses.repository.js';
import { SecretUsesService } from '#access/clients/secret-uses.service.js';
import { newId } from '#platform/secrets/ids.js';
import { digestOf } from '#platform/secrets/tokens.js';

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
  expect(written).toEqual([{ clientId: client.id, digest: digestOf(SECRET), isKey: false }]);
  jest.setSystemTime(Date.UTC(2026, 0, 1, 13));
  await use();
  expect(written).toHaveLength(2);
  jest.useRealTimers();
});
