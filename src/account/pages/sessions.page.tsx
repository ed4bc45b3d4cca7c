import type { VNode } from 'preact';
import { Facts } from '../../web/tables/facts.js';
import { PageForm, PostButton } from '../../web/forms/form.js';
import { Moment } from '../../web/tables/moment.js';
import { PagedList } from '../../web/tables/pager.js';
import type { Page } from '../../database/queries/read-page.js';
import type { SessionView } from '../../users/sessions/session-view.js';
import type { Identity } from '../../identity-providers/identity.js';
import { browserNameOf } from '../browser-name.js';
import type { AccountPage } from './account-layout.js';

export interface SessionsPageProps {
  present: SessionView | undefined;
  others: Page<SessionView>;
  /** The identity providers through which the user logs in. */
  identities: Identity[];
}

const PATH = '/account/sessions';

/** The sessions of the user. */
export function sessionsPage({ present, others, identities }: SessionsPageProps): AccountPage {
  return {
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
        <PagedList page={others} path={PATH} label="More sessions" empty="You have no other sessions.">
          <p>If one of these is not yours, log it out and change your password.</p>
          <ul class="entries" role="list">
            {others.items.map((session) => (
              <li>
                <Session session={session} />
                <PostButton action={`${PATH}/${session.id}`} class="entry-actions" look="quiet">
                  Log out<span class="visually-hidden"> {browserNameOf(session.userAgent)}</span>
                </PostButton>
              </li>
            ))}
          </ul>
        </PagedList>
        {others.items.length > 0 && (
          <PageForm action={`${PATH}/sign_out_elsewhere`} submit="Log out all other sessions" isDanger />
        )}
        {identities.length > 0 && <Identities identities={identities} />}
      </>
    ),
  };
}

const Identities = ({ identities }: { identities: Identity[] }): VNode => (
  <>
    <h2>Other services you log in with</h2>
    <p>If one of these is not yours, tell us: an operator can remove it.</p>
    <ul class="entries" role="list">
      {identities.map(({ label, linkedAt, lastUsedAt }) => (
        <li>
          <h3>
            <bdi>{label}</bdi>
          </h3>
          <Facts
            facts={[
              ['Linked', <Moment at={linkedAt} />],
              ['Last used', <Moment at={lastUsedAt} />],
            ]}
          />
        </li>
      ))}
    </ul>
  </>
);

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
