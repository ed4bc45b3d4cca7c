import { Facts } from '#platform/web/tables/facts.js';
import { Buttons, LinkButton, PostButton } from '#platform/web/forms/form.js';
import { Moment } from '#platform/web/tables/moment.js';
import { Enabled } from '#platform/web/tables/state.js';
import { ENGLISH_NAMES } from '#platform/language/languages.js';
import type { UserEntity } from '#access/users/accounts/user.entity.js';
import type { SecondFactorState } from '#access/users/factors/second-factor.service.js';
import type { ConsolePage } from '../pages/console-layout.js';
import { Id, NameLink, EnvironmentName } from '../pages/lists.js';
import { CopiedOnce, ShownAlready, OneTimeValue } from '#platform/web/layout/one-time-value.js';
import { aboutUser, userPath } from './user-layout.js';

interface Props {
  user: UserEntity;
}

export interface UserPageProps extends Props {
  isSelf: boolean;
  formId: string;
  factor: SecondFactorState;
  /** When the account is deleted, if the user has asked for that. */
  deletionDueAt: Date | undefined;
  withPassword: boolean;
}

/** One user: the properties, and actions on the account. */
export function userPage({
  user,
  isSelf,
  formId,
  factor,
  deletionDueAt,
  withPassword,
}: UserPageProps): ConsolePage {
  const { id } = user;
  const hasFactor = factor.authenticatorApp || factor.passkeys > 0;
  return aboutUser(user, {
    current: 'user',
    actions: (
      <LinkButton look="quiet" href={userPath(id, 'edit')}>
        Edit
      </LinkButton>
    ),
    children: (
      <>
        <Facts
          facts={[
            ['Name', <bdi>{user.name}</bdi>],
            ['ID', <Id id={id} />],
            ['Email', <bdi>{user.email}</bdi>],
            ['Email confirmed', user.emailVerifiedAt ? <Moment at={user.emailVerifiedAt} /> : 'no'],
            ['Language', user.language === null ? 'not known' : ENGLISH_NAMES[user.language]],
            ['State', <Enabled enabled={user.enabled} />],
            deletionDueAt !== undefined && ['Deletion due', <Moment at={deletionDueAt} />],
            ['Environment', <EnvironmentName of={user} />],
            user.sandboxOwnerId !== null && [
              'Sandbox of',
              <NameLink href={userPath(user.sandboxOwnerId)} name={user.sandboxOwnerId} />,
            ],
            ['Kind', user.kind],
            ['Role', user.operatorRole ? `operator: ${user.operatorRole}` : user.role],
            ['Webhook portal', user.webhooksEnabled ? 'open to clients of this owner' : 'closed'],
            ['Second factor', hasFactor ? factorText(factor) : 'none'],
            ['Created', <Moment at={user.createdAt} />],
          ]}
        />
        <Buttons heading="Actions">
          {withPassword && isSelf && (
            <LinkButton look="quiet" href="/account/password">
              Change your password
            </LinkButton>
          )}
          {withPassword && !isSelf && user.environment === 'live' && (
            <PostButton action={userPath(id, 'password-link')} once={formId} look="quiet">
              Create password link
            </PostButton>
          )}
          <LinkButton look="quiet" href={`/admin/console/notifications/new?user_id=${id}`}>
            Create notification
          </LinkButton>
          {user.environment === 'live' && (
            <LinkButton look="quiet" href={`/admin/console/clients/new?owner=${id}`}>
              Create client for this owner
            </LinkButton>
          )}
        </Buttons>
        <Buttons heading="Access">
          {user.enabled ? (
            <LinkButton look="quiet" href={userPath(id, 'disable')}>
              Disable
            </LinkButton>
          ) : (
            <PostButton action={userPath(id, 'enable')} look="quiet">
              Enable
            </PostButton>
          )}
          <LinkButton look="quiet" href={userPath(id, 'revoke')}>
            Revoke all tokens
          </LinkButton>
          {user.environment === 'live' && (
            <LinkButton look="quiet" href={userPath(id, 'make-operator')}>
              {user.role === 'operator' ? 'Change role' : 'Make operator'}
            </LinkButton>
          )}
          {user.role === 'operator' && (
            <LinkButton look="quiet" href={userPath(id, 'remove-operator')}>
              Remove operator role
            </LinkButton>
          )}
          {hasFactor && !isSelf && (
            <LinkButton look="quiet" href={userPath(id, 'reset-second-factor')}>
              Reset second factor
            </LinkButton>
          )}
          <LinkButton look="danger" href={userPath(id, 'erase')}>
            Erase
          </LinkButton>
        </Buttons>
      </>
    ),
  });
}

const factorText = ({ passkeys, authenticatorApp, recoveryCodesLeft }: SecondFactorState): string =>
  [
    passkeys === 1 ? 'one passkey' : passkeys > 1 ? `${passkeys} passkeys` : '',
    authenticatorApp ? 'authenticator app' : '',
    recoveryCodesLeft === 1 ? 'one recovery code left' : `${recoveryCodesLeft} recovery codes left`,
  ]
    .filter(Boolean)
    .join(', ');

/** A link to set a password, shown once; afterwards the page says that it was shown. */
export function passwordLinkPage({ user, url }: Props & { url: string | undefined }): ConsolePage {
  const back = userPath(user.id);
  return aboutUser(user, {
    title: url === undefined ? 'Link already shown' : 'Password link',
    children:
      url === undefined ? (
        <ShownAlready note="The link was already shown and cannot be shown again. If nobody copied it, create another.">
          <LinkButton href={back}>Go to the user</LinkButton>
        </ShownAlready>
      ) : (
        <OneTimeValue
          note={
            <>
              Copy the link now and give it to <bdi>{user.name}</bdi> only: it is shown only once, and works
              once within 24 hours.
            </>
          }
          next={back}
        >
          <p>
            <CopiedOnce text={url} />
          </p>
        </OneTimeValue>
      ),
  });
}
