import type { VNode } from 'preact';
import { ActionConfirmation } from './action-confirmation.js';

export interface DisconnectionProps {
  client: { name: string };
  user: { name: string };
  action: string;
  /** Where Cancel leads. */
  cancel: string;
}

/** Asks before a client is disconnected from a user, and says what that means. */
export const Disconnection = ({ client, user, ...form }: DisconnectionProps): VNode => (
  <ActionConfirmation
    question={
      <>
        Disconnect <bdi class="name">{client.name}</bdi> from <bdi class="name">{user.name}</bdi>?
      </>
    }
    consequences={[
      'The client can no longer read data of this user.',
      'Its grants and tokens for this user are revoked, and no more events of this user are sent to it.',
      'The user can connect it again at any time.',
    ]}
    submit="Disconnect"
    {...form}
  />
);
