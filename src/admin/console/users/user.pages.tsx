import type { VNode } from 'preact';
import { Facts } from '../../../http/pages/facts.js';
import { CsrfField } from '../../../http/pages/csrf-field.js';
import { Moment } from '../../../http/pages/moment.js';
import { ErrorNotice } from '../../../http/pages/notices.js';
import type { UserEntity } from '../../../users/user.entity.js';
import { ONCE_FIELD } from '../form-ids.service.js';
import type { UserLayoutProps } from '../../../users/user-page-context.js';
import { Enabled, Id } from '../pages/lists.js';
import { CopiedOnce } from '../pages/shown-once.js';
import { renderUserPage, userPath } from './user-layout.js';

interface Props {
  layoutProps: UserLayoutProps;
  user: UserEntity;
}

type TokenFor = (path: string) => string;

/** One user: the properties, and actions on the account. */
export function userPage({
  layoutProps,
  user,
  isSelf,
  once,
  tokenFor,
}: Props & { isSelf: boolean; once: string; tokenFor: TokenFor }): string {
  const { id } = user;
  return renderUserPage({
    layoutProps,
    user,
    part: '',
    withScript: true,
    actions: (
      <a class="button-link quiet" href={userPath(id, 'edit')}>
        Edit{' '}
      </a>
    ),
    children: (
      <>
        <Facts
          facts={[
            ['Name', <bdi>{user.name}</bdi>],
            ['ID', <Id id={id} />],
            ['Email', <bdi>{user.email}</bdi>],
            ['State', <Enabled enabled={user.enabled} />],
            ['Kind', user.kind],
            ['Role', user.role],
            ['Webhook portal', user.webhooksEnabled ? 'open to clients of this owner' : 'closed'],
            ['Created', <Moment at={user.createdAt} />],
          ]}
        />
        <h2>Actions</h2>
        <div class="console-buttons">
          {isSelf ? (
            <a class="button-link quiet" href="/account/password">
              Change your password
            </a>
          ) : (
            <PostButton
              path={userPath(id, 'password-link')}
              tokenFor={tokenFor}
              once={once}
              label="Create password link"
            />
          )}
          <a class="button-link quiet" href={`/admin/console/notifications/new?user_id=${id}`}>
            Create notification
          </a>
          <a class="button-link quiet" href={`/admin/console/clients/new?owner=${id}`}>
            Create client for this owner
          </a>
        </div>
        <h2>Access</h2>
        <div class="console-buttons">
          {user.enabled ? (
            <a class="button-link quiet" href={userPath(id, 'disable')}>
              Disable
            </a>
          ) : (
            <PostButton path={userPath(id, 'enable')} tokenFor={tokenFor} label="Enable" />
          )}
          <a class="button-link quiet" href={userPath(id, 'revoke')}>
            Revoke all tokens
          </a>
          {user.role === 'operator' ? (
            <a class="button-link quiet" href={userPath(id, 'remove-operator')}>
              Remove operator role
            </a>
          ) : (
            <a class="button-link quiet" href={userPath(id, 'make-operator')}>
              Make operator
            </a>
          )}
          <a class="button-link quiet" href={userPath(id, 'erase')}>
            Erase
          </a>
        </div>
      </>
    ),
  });
}

interface PostButtonProps {
  path: string;
  tokenFor: TokenFor;
  label: string;
  /** The id of what it creates: clicked twice, it is created once. */
  once?: string;
}

function PostButton({ path, tokenFor, label, once }: PostButtonProps): VNode {
  return (
    <form method="post" action={path} data-once={once === undefined ? undefined : ''}>
      <CsrfField token={tokenFor(path)} />
      {once !== undefined && <input type="hidden" name={ONCE_FIELD} value={once} />}
      <button type="submit" class="quiet">
        {label}
      </button>
    </form>
  );
}

/** A link to set a password, shown once; afterwards the page says that it was shown. */
export function passwordLinkPage({ layoutProps, user, url }: Props & { url: string | undefined }): string {
  return renderUserPage({
    layoutProps,
    user,
    title: url === undefined ? 'Link already shown' : 'Password link',
    withScript: true,
    children:
      url === undefined ? (
        <>
          <ErrorNotice>
            The link was already shown and cannot be shown again. If nobody copied it, create another.
          </ErrorNotice>
          <p class="console-buttons">
            <a class="button-link" href={userPath(user.id)}>
              Go to the user
            </a>
          </p>
        </>
      ) : (
        <>
          <p class="notice" role="status">
            Copy the link now and give it to <bdi>{user.name}</bdi> only: it is shown only once, and works
            once within 24 hours.
          </p>
          <p>
            <CopiedOnce text={url} />
          </p>
          <p class="console-buttons">
            <a class="button-link" href={userPath(user.id)}>
              I have copied it
            </a>
          </p>
        </>
      ),
  });
}
