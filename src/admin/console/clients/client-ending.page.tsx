import type { ClientEntity } from '../../../clients/client.entity.js';
import type { ConsoleFrame } from '../pages/console-layout.js';
import { counted, Ending } from '../pages/ending.js';
import { clientPath, renderClientPage } from './client-frame.js';

export type ClientEnding = 'disable' | 'revoke' | 'delete';

/** More than this is not counted out. */
export const COUNTED_UP_TO = 10_001;

export interface ClientEndingPageProps {
  frame: ConsoleFrame;
  client: ClientEntity;
  ending: ClientEnding;
  holds: { users: number; grants: number; endpoints: number };
  csrfToken: string;
}

interface Words {
  title: string;
  question: string;
  submit: string;
  consequences: (holds: { users: string; grants: string; endpoints: string }) => string[];
}

const WORDS: Record<ClientEnding, Words> = {
  disable: {
    title: 'Disable the client',
    question: 'Disable',
    submit: 'Disable the client',
    consequences: ({ users, grants, endpoints }) => [
      `Every token ends at once, its own and ${grants} of users. Enabling it again revives none.`,
      'It can get no new token, and nobody can authorize it.',
      `Nothing is sent to its endpoints (${endpoints}) until it is enabled again.`,
      `Consents stay (${users}).`,
    ],
  },
  revoke: {
    title: 'Revoke all tokens',
    question: 'Revoke every token and grant of',
    submit: 'Revoke all tokens',
    consequences: ({ users, grants }) => [
      `Its own tokens end at once, and ${grants} of users with all of their tokens.`,
      'Authorization codes and portal links that were not used yet end too.',
      `Consents stay (${users}). It can get new tokens right away.`,
    ],
  },
  delete: {
    title: 'Delete the client',
    question: 'Delete',
    submit: 'Delete the client',
    consequences: ({ users, grants, endpoints }) => [
      'Its id and secrets are gone for good. The partner has to be registered anew and change its settings.',
      `Every token ends at once, its own and ${grants} of users.`,
      `Consents are deleted (${users}): whoever shares data with it has to agree again.`,
      `Its endpoints (${endpoints}), their deliveries and its notifications are deleted.`,
      'The audit trail stays.',
    ],
  },
};

/** What ends with it, before a client is disabled or deleted, or its tokens are revoked. */
export function clientEndingPage({ frame, client, ending, holds, csrfToken }: ClientEndingPageProps): string {
  const { title, question, submit, consequences } = WORDS[ending];
  const words = {
    users: counted(holds.users, COUNTED_UP_TO, 'user'),
    grants: counted(holds.grants, COUNTED_UP_TO, 'grant'),
    endpoints: counted(holds.endpoints, COUNTED_UP_TO, 'endpoint'),
  };
  return renderClientPage({
    frame,
    client,
    title,
    children: (
      <Ending
        question={
          <>
            {question} <bdi class="name">{client.name}</bdi>?
          </>
        }
        consequences={consequences(words)}
        action={clientPath(client.id, ending)}
        csrfToken={csrfToken}
        submit={submit}
        back={clientPath(client.id)}
      />
    ),
  });
}
