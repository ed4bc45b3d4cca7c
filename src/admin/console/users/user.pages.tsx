import type { VNode } from 'preact';
import { CsrfField } from '../../../http/pages/csrf-field.js';
import { Moment } from '../../../http/pages/moment.js';
import type { UserEntity } from '../../../users/user.entity.js';
import type { ConsoleFrame } from '../pages/console-layout.js';
import { Enabled, Facts, Id } from '../pages/lists.js';
import { renderUserPage, userPath } from './user-frame.js';

interface Props {
  frame: ConsoleFrame;
  user: UserEntity;
}

type TokenFor = (path: string) => string;

/** One user: who it is, and what can be done. */
export function userPage({ frame, user, tokenFor }: Props & { tokenFor: TokenFor }): string {
  const { id } = user;
  return renderUserPage({
    frame,
    user,
    part: '',
    actions: (
      <a class="button-link quiet" href={userPath(id, 'edit')}>
        Change
      </a>
    ),
    children: (
      <>
        <Facts
          facts={[
            ['Id', <Id id={id} />],
            ['E-mail address', <bdi>{user.email}</bdi>],
            ['State', <Enabled enabled={user.enabled} />],
            ['Kind', user.kind],
            ['Role', user.role],
            ['Webhook portal', user.webhooksEnabled ? 'clients of this owner may open it' : 'closed'],
            ['Made', <Moment at={user.createdAt} />],
          ]}
        />
        <h2>Help</h2>
        <div class="console-buttons">
          <PostButton
            path={userPath(id, 'password-link')}
            tokenFor={tokenFor}
            label="Make a link to set a password"
          />
          <a class="button-link quiet" href={`/admin/console/notifications/new?user_id=${id}`}>
            Raise a notification
          </a>
          <a class="button-link quiet" href={`/admin/console/clients/new?owner=${id}`}>
            Register a client for this owner
          </a>
        </div>
        <h2>Role and end</h2>
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
            <a class="button-link quiet" href={userPath(id, 'unmake-operator')}>
              Take the operator role away
            </a>
          ) : (
            <a class="button-link quiet" href={userPath(id, 'make-operator')}>
              Make an operator
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

function PostButton({ path, tokenFor, label }: { path: string; tokenFor: TokenFor; label: string }): VNode {
  return (
    <form method="post" action={path}>
      <CsrfField token={tokenFor(path)} />
      <button type="submit" class="quiet">
        {label}
      </button>
    </form>
  );
}

/** A link to set a password, shown this once. */
export function passwordLinkPage({ frame, user, url }: Props & { url: string }): string {
  return renderUserPage({
    frame,
    user,
    title: 'A link to set a password',
    children: (
      <>
        <p class="notice" role="status">
          Copy the link now and give it to <bdi>{user.name}</bdi> alone: it is shown this once, and works once
          within 24 hours.
        </p>
        <p>
          <code class="secret">{url}</code>
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
