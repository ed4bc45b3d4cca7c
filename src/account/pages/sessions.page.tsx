import type { VNode } from 'preact';
import { CsrfField } from '../../http/pages/csrf-field.js';
import { Facts } from '../../http/pages/facts.js';
import type { Page } from '../../http/paging.js';
import type { SessionView } from '../../users/sessions.repository.js';
import { browserNameOf } from '../browser-name.js';
import type { UserLayoutProps } from '../../users/user-page-context.js';
import { renderAccountPage } from './account-layout.js';
import { Moment } from '../../http/pages/moment.js';
import { NothingHere, Pager } from '../../http/pages/pager.js';

export interface SessionsPageProps {
  layoutProps: UserLayoutProps;
  present: SessionView | undefined;
  others: Page<SessionView>;
  othersToken: string;
  /** The CSRF token of the form of one session. */
  tokenOf: (id: string) => string;
}

const PATH = '/account/sessions';

/** The sessions of the user. */
export function sessionsPage({
  layoutProps,
  present,
  others,
  othersToken,
  tokenOf,
}: SessionsPageProps): string {
  return renderAccountPage({
    ...layoutProps,
    title: 'Sessions',
    part: 'sessions',
    children: (
      <>
        <h2>This browser</h2>
        {present && (
          <ul class="entries" role="list">
            <li>
              <Session session={present} />
            </li>
          </ul>
        )}
        <h2>Other sessions</h2>
        {others.items.length === 0 ? (
          <NothingHere page={others} path={PATH} words="You have no other sessions." />
        ) : (
          <>
            <p>If one of these is not yours, log it out and change your password.</p>
            <ul class="entries" role="list">
              {others.items.map((session) => (
                <li>
                  <Session session={session} />
                  <form method="post" action={`${PATH}/${session.id}`} class="entry-actions">
                    <CsrfField token={tokenOf(session.id)} />
                    <button type="submit" class="quiet">
                      Log out<span class="visually-hidden"> {browserNameOf(session.userAgent)}</span>
                    </button>
                  </form>
                </li>
              ))}
            </ul>
          </>
        )}
        <Pager page={others} path={PATH} label="More sessions" />
        {others.items.length > 0 && (
          <form method="post" action={`${PATH}/sign_out_elsewhere`}>
            <CsrfField token={othersToken} />
            <div class="actions">
              <button type="submit" class="danger">
                Log out all other sessions
              </button>
            </div>
          </form>
        )}
      </>
    ),
  });
}

function Session({ session }: { session: SessionView }): VNode {
  return (
    <>
      <h3>{browserNameOf(session.userAgent)}</h3>
      <Facts
        facts={[
          ['Logged in', <Moment at={session.createdAt} />],
          ['Last seen', <Moment at={session.lastSeenAt} />],
          ['IP address', <bdi>{session.address ?? 'unknown'}</bdi>],
        ]}
      />
    </>
  );
}
