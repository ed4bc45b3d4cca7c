import { SERVICE_ACTOR } from '#records/audit/audit.service.js';
import { KNOWN_MEMBERS, type ClientWithSecrets } from '#access/clients/client-with-secrets.js';
import { ClientsRepository } from '#access/clients/clients.repository.js';
import type { EndpointInList } from '#events/webhooks/endpoints/endpoint-health.js';
import { ENDPOINT } from '#events/webhooks/endpoints/endpoint.resource.js';
import { EndpointsRepository } from '#events/webhooks/endpoints/endpoints.repository.js';
import { EndpointsService } from '#events/webhooks/endpoints/endpoints.service.js';
import { URL_OK } from '../support/bad-endpoints.js';
import { TYPE, useSharedService, WEBHOOK_ENV } from '../support/spec.js';

const IN_LIST = ['clientName', 'environment', 'delivered24h', 'failed24h', 'hasSucceeded'];

describe('A statement that reads a part of an entity returns exactly the members of its type', () => {
  const service = useSharedService({ env: WEBHOOK_ENV });

  it('of a client with its secrets', async () => {
    const client = await service.make.client();
    const found = await service.app.get(ClientsRepository).findWithSecrets(client.id);
    expect(Object.keys(found!.client).sort()).toEqual([...KNOWN_MEMBERS].sort());
    expect(client).toMatchObject(found!.client);
  });

  it('of an endpoint in a list', async () => {
    const client = await service.make.client();
    const input = { url: URL_OK, eventTypes: [TYPE] };
    const { endpoint } = await service.app.get(EndpointsService).create(client.id, input, SERVICE_ACTOR);
    const page = await service.app.get(EndpointsRepository).list({ clientId: client.id }, { size: 1 });
    expect(Object.keys(page.items[0]!).sort()).toEqual([...ENDPOINT.shownKeys, ...IN_LIST].sort());
    expect(page.items[0]).toMatchObject({
      id: endpoint.id,
      eventTypes: endpoint.eventTypes,
      createdAt: endpoint.createdAt,
    });
  });

  it('and does not compile where one is read that is not there', () => {
    const absent = [
      // @ts-expect-error it is not selected
      (client: ClientWithSecrets['client']) => client.createdAt,
      // @ts-expect-error it is not selected
      (client: ClientWithSecrets['client']) => client.realm,
      // @ts-expect-error it is not selected
      (endpoint: EndpointInList) => endpoint.sealedSecret,
    ];
    expect(absent).toHaveLength(3);
  });
});
