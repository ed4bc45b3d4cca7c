import type { ClientEntity } from '#access/clients/client.entity.js';
import type { ConsolePage } from '../pages/console-layout.js';
import { counted, ActionConfirmation } from '../pages/action-confirmation.js';
import { clientPath, aboutClient } from './client-layout.js';

export type ClientAction = 'disable' | 'revoke' | 'delete';

/** The limit of counts; beyond it the page says "more than". */
export const COUNTED_UP_TO = 10_001;

/** How much depends on the client. */
interface Holds {
  users: number;
  grants: number;
  endpoints: number;
}

export interface ClientActionPageProps {
  client: ClientEntity;
  action: ClientAction;
  holds: Holds;
  /** Whether a second admin has to approve what needs that. */
  fourEyes: boolean;
}

interface Messages {
  title: string;
  question: string;
  consequences: (holds: Holds) => string[];
}

const MESSAGES: Record<ClientAction, Messages> = {
  disable: {
    title: 'Disable client',
    question: 'Disable',
    consequences: (holds) => [
      `${tokensOf(holds)} Enabling the client again does not restore any token.`,
      'It cannot get new tokens, and users cannot authorize it.',
      holds.endpoints === 0
        ? 'It has no webhook endpoints.'
        : `No events are sent to its ${many(holds.endpoints, 'endpoint')} until it is enabled again.`,
      consentsOf(holds, 'are kept'),
    ],
  },
  revoke: {
    title: 'Revoke all tokens',
    question: 'Revoke every token and grant of',
    consequences: (holds) => [
      tokensOf(holds),
      'Unused authorization codes and portal links stop working too, and webhook portal sessions end.',
      `${consentsOf(holds, 'are kept')} It can get new tokens right away.`,
    ],
  },
  delete: {
    title: 'Delete client',
    question: 'Delete',
    consequences: (holds) => [
      'Its client ID and secrets are permanently deleted. To connect again, the partner needs a new client and new settings.',
      tokensOf(holds),
      holds.users === 0
        ? 'Nobody shares data with it, so no consents are deleted.'
        : `${consentsOf(holds, 'are deleted')} Users would have to consent again.`,
      holds.endpoints === 0
        ? 'It has no endpoints. Its notifications are deleted.'
        : `Its ${many(holds.endpoints, 'endpoint')}, what was sent there, and its notifications are deleted.`,
      'The audit log is kept.',
    ],
  },
};

const many = (count: number, noun: string): string => counted(count, COUNTED_UP_TO, noun);

const tokensOf = ({ grants }: Holds): string =>
  grants === 0
    ? 'Its own tokens are revoked immediately. It has no active grants from users.'
    : `All its tokens are revoked immediately: its own, and those of ${many(grants, 'user grant')}.`;

const consentsOf = ({ users }: Holds, what: 'are kept' | 'are deleted'): string =>
  users === 0 ? 'Nobody shares data with it.' : `The consents of ${many(users, 'user')} ${what}.`;

/** Shown on actions that wait for another admin. */
export const SECOND_ADMIN = 'Nothing is done until another admin approves it.';

/** Explains what else ends before a client is disabled or deleted, or its tokens are revoked. */
export function clientActionPage({ client, action, holds, fourEyes }: ClientActionPageProps): ConsolePage {
  const { title, question, consequences } = MESSAGES[action];
  return aboutClient(client, {
    title,
    children: (
      <ActionConfirmation
        question={
          <>
            {question} <bdi class="name">{client.name}</bdi>?
          </>
        }
        consequences={[...consequences(holds), ...(fourEyes && action === 'delete' ? [SECOND_ADMIN] : [])]}
        action={clientPath(client.id, action)}
        submit={title}
        cancel={clientPath(client.id)}
      />
    ),
  });
}
