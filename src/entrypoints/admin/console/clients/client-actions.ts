import { Injectable } from '@nestjs/common';
import type { ClientEntity } from '#access/clients/client.entity.js';
import { ClientsService } from '#access/clients/clients.service.js';
import { ConsentsService } from '#access/consents/consents.service.js';
import { GrantsService } from '#access/tokens/grants/grants.service.js';
import { EndpointsService, ENDPOINTS_PER_CLIENT } from '#events/webhooks/endpoints/endpoints.service.js';
import { Settings } from '#platform/config/settings.js';
import { ReadsMuch } from '#platform/http/page-routes/large-reads.js';
import { AdminActions } from '../../actions/admin-actions.service.js';
import { counted } from '../pages/disconnection.js';
import {
  confirmedActions,
  COUNTED_UP_TO,
  SECOND_ADMIN,
  type ActionSubjects,
  type ConfirmedAction,
} from '../pages/confirmed-actions.js';
import { aboutClient, clientPath, CLIENTS_PATH } from './client-layout.js';

/** A client, and how much depends on it. */
interface AboutClient {
  client: ClientEntity;
  users: number;
  grants: number;
  endpoints: number;
  /** Whether a second admin has to approve what needs that. */
  fourEyes: boolean;
}

@Injectable()
export class ClientSubjects implements ActionSubjects<AboutClient> {
  constructor(
    readonly clients: ClientsService,
    private readonly consents: ConsentsService,
    private readonly grants: GrantsService,
    private readonly endpoints: EndpointsService,
    readonly actions: AdminActions,
    private readonly settings: Settings,
  ) {}

  async about(id: string): Promise<AboutClient> {
    const client = await this.clients.get(id);
    const [users, grants, endpoints] = await Promise.all([
      this.consents.countLive(id, COUNTED_UP_TO),
      this.grants.countLive({ clientId: id }, COUNTED_UP_TO),
      this.endpoints.list(id, { size: ENDPOINTS_PER_CLIENT }),
    ]);
    return { client, users, grants, endpoints: endpoints.items.length, fourEyes: this.settings.fourEyes };
  }

  readonly nameOf = ({ client }: AboutClient) => client.name;
  readonly pathOf = clientPath;
  readonly page = ({ client }: AboutClient, page: Parameters<typeof aboutClient>[1]) =>
    aboutClient(client, page);
}

const many = (count: number, noun: string): string => counted(count, COUNTED_UP_TO, noun);

const tokensOf = ({ grants }: AboutClient): string =>
  grants === 0
    ? 'Its own tokens are revoked immediately. It has no active grants from users.'
    : `All its tokens are revoked immediately: its own, and those of ${many(grants, 'user grant')}.`;

const consentsOf = ({ users }: AboutClient, what: 'are kept' | 'are deleted'): string =>
  users === 0 ? 'Nobody shares data with it.' : `The consents of ${many(users, 'user')} ${what}.`;

/** Actions that end a client or what it holds. */
const CLIENT_ACTIONS: Record<string, ConfirmedAction<AboutClient, ClientSubjects>> = {
  disable: {
    title: 'Disable client',
    question: 'Disable',
    consequences: (about) => [
      `${tokensOf(about)} Enabling the client again does not restore any token.`,
      'It cannot get new tokens, and users cannot authorize it.',
      about.endpoints === 0
        ? 'It has no webhook endpoints.'
        : `No events are sent to its ${many(about.endpoints, 'endpoint')} until it is enabled again.`,
      consentsOf(about, 'are kept'),
    ],
    notice: 'client_disabled',
    work: async ({ clients }, id, { actor }) => ({
      done: await clients.update(id, { enabled: false }, actor),
    }),
  },
  revoke: {
    title: 'Revoke all tokens',
    question: 'Revoke every token and grant of',
    least: 'support',
    consequences: (about) => [
      tokensOf(about),
      'Unused authorization codes and portal links stop working too, and webhook portal sessions end.',
      `${consentsOf(about, 'are kept')} It can get new tokens right away.`,
    ],
    notice: 'tokens_revoked',
    work: async ({ clients }, id, { actor }) => ({ done: await clients.revokeTokens(id, actor) }),
  },
  delete: {
    title: 'Delete client',
    question: 'Delete',
    consequences: (about) => [
      'Its client ID and secrets are permanently deleted. To connect again, the partner needs a new client and new settings.',
      tokensOf(about),
      about.users === 0
        ? 'Nobody shares data with it, so no consents are deleted.'
        : `${consentsOf(about, 'are deleted')} Users would have to consent again.`,
      about.endpoints === 0
        ? 'It has no endpoints. Its notifications are deleted.'
        : `Its ${many(about.endpoints, 'endpoint')}, what was sent there, and its notifications are deleted.`,
      'The audit log is kept.',
      ...(about.fourEyes ? [SECOND_ADMIN] : []),
    ],
    notice: 'client_deleted',
    goTo: CLIENTS_PATH,
    work: ({ actions }, id, { actor }) => actions.run('client.delete', id, {}, actor),
  },
};

export const CLIENT_ACTION_CONTROLLERS = confirmedActions(
  { path: 'clients', param: 'client_id', subjects: ClientSubjects, reads: [ReadsMuch()] },
  CLIENT_ACTIONS,
);
