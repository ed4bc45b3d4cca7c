import type { VNode } from 'preact';
import { useContext } from 'preact/hooks';
import { say } from '#platform/language/text.js';
import { Facts } from '#platform/web/tables/facts.js';
import { Choices } from '#platform/web/forms/field.js';
import { PageForm, PostButton } from '#platform/web/forms/form.js';
import { LanguageContext, Say, useText } from '#platform/web/layout/say.js';
import { Moment } from '#platform/web/tables/moment.js';
import { PagedList } from '#platform/web/tables/pager.js';
import type { Page } from '#platform/database/queries/read-page.js';
import type { SessionView } from '#access/users/sessions/session.entity.js';
import type { TimeChoice } from '#platform/http/server/request-time-zone.js';
import type { Identity } from '#access/identity-providers/identity.entity.js';
import { browserNameOf } from '#access/users/sessions/browser-name.js';
import { OpeningRow, type AccountPage } from './account-layout.js';
import { hidden } from './message-parts.js';

export interface SessionsPageProps {
  present: SessionView | undefined;
  others: Page<SessionView>;
  /** The identity providers through which the user logs in. */
  identities: Identity[];
  /** The time zone of this browser. */
  times: TimeChoice;
  withPassword: boolean;
}

const PATH = '/account/sessions';

/** The sessions of the user. */
export const sessionsPage = (props: SessionsPageProps): AccountPage => ({
  title: say('Sessions'),
  part: 'security',
  children: <Sessions {...props} />,
});

function Sessions({ present, others, identities, times, withPassword }: SessionsPageProps): VNode {
  const t = useText();
  return (
    <>
      <ul class="rows" role="list">
        {present && (
          <OpeningRow
            title={<h2 class="row-title">{useBrowserName(present)}</h2>}
            mark={t('This browser')}
            at={present.lastSeenAt}
          >
            <SessionFacts session={present} />
          </OpeningRow>
        )}
        <Times times={times} />
      </ul>
      <h2>{t('Other sessions')}</h2>
      <PagedList
        page={others}
        path={PATH}
        label={t('More sessions')}
        empty={t('You have no other sessions.')}
      >
        <p>
          {withPassword
            ? t('If one of these is not yours, log it out and change your password.')
            : t('If one of these is not yours, log it out.')}
        </p>
        <ul class="rows" role="list">
          {others.items.map((session) => (
            <Session session={session} />
          ))}
        </ul>
      </PagedList>
      {others.items.length > 0 && (
        <PageForm action={`${PATH}/sign_out_elsewhere`} submit={t('Log out all other sessions')} isDanger />
      )}
      {identities.length > 0 && <Identities identities={identities} />}
    </>
  );
}

function Times({ times }: Pick<SessionsPageProps, 'times'>): VNode {
  const t = useText();
  const label = t('Show times in');
  const options = [
    { value: 'local', label: t('The time zone of this browser') },
    { value: 'utc', label: 'UTC' },
  ];
  return (
    <OpeningRow
      title={<span class="row-title">{label}</span>}
      value={options.find(({ value }) => value === times)?.label}
    >
      <PageForm action={`${PATH}/times`} values={{ times }} submit={t('Save')}>
        <Choices name="times" label={label} type="radio" options={options} />
      </PageForm>
    </OpeningRow>
  );
}

function Identities({ identities }: { identities: Identity[] }): VNode {
  const t = useText();
  return (
    <>
      <h2>{t('Other services you log in with')}</h2>
      <p>{t('If one of these is not yours, tell us: an operator can remove it.')}</p>
      <ul class="rows" role="list">
        {identities.map(({ label, linkedAt, lastUsedAt }) => (
          <OpeningRow
            title={
              <h3 class="row-title" dir="auto">
                {label}
              </h3>
            }
            at={lastUsedAt}
          >
            <Facts
              facts={[
                [t('Linked'), <Moment at={linkedAt} />],
                [t('Last used'), <Moment at={lastUsedAt} />],
              ]}
            />
          </OpeningRow>
        ))}
      </ul>
    </>
  );
}

const useBrowserName = ({ userAgent }: SessionView): string =>
  browserNameOf(userAgent, useContext(LanguageContext));

/** Another session, which can be logged out. */
function Session({ session }: { session: SessionView }): VNode {
  const browser = useBrowserName(session);
  return (
    <OpeningRow title={<h3 class="row-title">{browser}</h3>} at={session.lastSeenAt}>
      <SessionFacts session={session} />
      <PostButton action={`${PATH}/${session.id}`} class="entry-actions" look="quiet">
        <Say it="Log out<hidden> {browser}</hidden>" with={{ browser, hidden }} />
      </PostButton>
    </OpeningRow>
  );
}

function SessionFacts({ session }: { session: SessionView }): VNode {
  const t = useText();
  return (
    <Facts
      facts={[
        [t('Logged in'), <Moment at={session.createdAt} />],
        [t('Last seen'), <Moment at={session.lastSeenAt} />],
        [t('IP address'), <bdi>{session.address ?? t('unknown')}</bdi>],
      ]}
    />
  );
}
