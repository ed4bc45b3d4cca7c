import type { VNode } from 'preact';
import { Confirmation, type ConfirmationProps } from '#platform/web/forms/confirmation.js';

/** Explains what an action will do, with the button for it. */
export const ActionConfirmation = (props: Omit<ConfirmationProps, 'heading' | 'class'>): VNode => (
  <Confirmation heading="What happens" class="console-form" isDanger {...props} />
);

/** A number that was counted up to a limit, as text. */
const upTo = (count: number, limit: number): string =>
  count >= limit ? `more than ${(limit - 1).toLocaleString('en-GB')}` : count.toLocaleString('en-GB');

/** A number with its noun. */
export const counted = (count: number, limit: number, one: string, several = `${one}s`): string =>
  count === 0 ? `no ${one}` : count === 1 ? `one ${one}` : `${upTo(count, limit)} ${several}`;

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
