import { SERVICE_ACTOR } from '#records/audit/audit.service.js';
import { NotificationsService } from '#records/notifications/notifications.service.js';
import { LIVE_REALM } from '#access/users/accounts/environment.js';
import { BrowserSession, credentialsOf, type TestService } from '../../support/spec.js';
import { REDIRECT_URI, type TestClient } from '../../support/factory.js';
import { enterPortal, makeEndpoint, seedDelivery } from '../../support/portal.js';
import { SandboxProgram } from '../../support/sandbox.js';

/** Everything of one realm: what is live, or the sandbox of one owner. */
export interface Realm {
  name: string;
  ownerId: string;
  client: TestClient;
  /** Another client of the same realm. */
  sibling: TestClient;
  bearer: string;
  /** May publish and introspect. */
  service: TestClient;
  serviceBearer: string;
  userIds: string[];
  /** A token of the first user, for the client. */
  accessToken: string;
  refreshToken: string;
  endpointId: string;
  deliveryId: string;
  notificationId: string;
  portal: BrowserSession;
  /** A code of the first user, for the client. */
  newCode: () => Promise<string>;
}

/** Authorizes the client as this user, on the page of its environment; where the browser is sent, or the refusal. */
export async function authorizeAs(
  service: TestService,

  client: TestClient,
  user: string,
  browser = new BrowserSession(service.url),
): Promise<URL> {
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: client.id,
    redirect_uri: REDIRECT_URI,
  });
  const page = await browser.open(`/o/authorize/?${query.toString()}`);
  if (page.status !== 200) return new URL(page.headers.get('location')!, service.url);
  const answer = await browser.submit(page, '/o/authorize/', { driver: user, decision: 'authorize' });
  return new URL(answer.headers.get('location') ?? `/refused/${answer.status}`, service.url);
}

/** Makes realms with everything in them. */
export class RealmMaker {
  constructor(private readonly service: TestService) {}

  private serviceClient(ownerId: string, environment: 'live' | 'sandbox'): Promise<TestClient> {
    return this.service.make.client({
      ownerId,
      environment,
      scopes: ['event:publish', 'token:introspect'],
      grantTypes: ['client_credentials'],
      redirectUris: [],
    });
  }

  private async realmWith(
    { ownerId, client, name }: Pick<Realm, 'ownerId' | 'client' | 'name'>,
    userIds: string[],
    newCode: () => Promise<string>,
  ): Promise<Realm> {
    const { service } = this;
    const environment = client.environment;
    const pair = await service.http.token({
      grant_type: 'authorization_code',
      ...credentialsOf(client),
      code: await newCode(),
      redirect_uri: REDIRECT_URI,
    });
    const publisher = await this.serviceClient(ownerId, environment);
    const endpoint = await makeEndpoint(service, client, { eventTypes: ['vehicle.updated'] });
    const notification = await service.app.get(NotificationsService).raiseByOperator(
      {
        messageId: 'ERR1',
        category: 'SERVICE',
        shortTextTitle: 'A',
        shortTextBody: 'B',
        userId: ownerId,
        clientId: client.id,
      },
      SERVICE_ACTOR,
    );
    return {
      name,
      ownerId,
      client,
      sibling: await service.make.client({ ownerId, environment }),
      bearer: await service.make.clientToken(client),
      service: publisher,
      serviceBearer: await service.make.clientToken(publisher),
      userIds,
      accessToken: pair.json.access_token as string,
      refreshToken: pair.json.refresh_token as string,
      endpointId: endpoint.id,
      deliveryId: await seedDelivery(service, endpoint, { state: 'failed' }),
      notificationId: notification.id,
      portal: await enterPortal(service, client),
      newCode,
    };
  }

  async live(ownerId: string): Promise<Realm> {
    const { service } = this;
    const client = await service.make.client({ ownerId });
    const users = [await service.make.user(), await service.make.user()];
    for (const user of users) await service.make.consent(client, user);
    const ids = users.map(({ id }) => id);
    return this.realmWith({ name: LIVE_REALM, ownerId, client }, ids, () =>
      service.make.code(client, users[0]!),
    );
  }

  async sandbox(ownerId: string): Promise<Realm> {
    const { service } = this;
    const program = await SandboxProgram.start(service, { ownerId });
    const ids = [(await program.driver()).id, (await program.driver()).id];
    const newCode = async () =>
      (await authorizeAs(service, program.client, ids[0]!)).searchParams.get('code')!;
    return this.realmWith({ name: ownerId, ownerId, client: program.client }, ids, newCode);
  }
}
