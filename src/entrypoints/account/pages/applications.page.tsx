import type { VNode } from 'preact';
import { Facts } from '#platform/web/tables/facts.js';
import { LinkButton } from '#platform/web/forms/form.js';
import { say } from '#platform/language/text.js';
import { ClientDetails, ClientTile } from '#platform/web/layout/client-identity.js';
import { Say, useText } from '#platform/web/layout/say.js';
import { Day, Moment } from '#platform/web/tables/moment.js';
import { NEXT_PREVIOUS, PagedList } from '#platform/web/tables/pager.js';
import type { Page } from '#platform/database/queries/read-page.js';
import type { FormerClient } from '#events/disclosures/disclosure.js';
import type { ConnectedClient } from '#access/tokens/grants/grant.js';
import type { AccountPage } from './account-layout.js';
import type { ApplicationLinks } from './application-links.js';
import { accessPath } from './choose.page.js';
import { DELETE_PATH, DeletionNotice } from './delete.pages.js';
import { EXPORT_PATH } from './export.pages.js';
import { hidden, linkTo } from './message-parts.js';

export interface ApplicationsPageProps {
  clients: Page<ConnectedClient>;
  /** The last day (UTC) on which each of them read something, by its id. */
  lastReads: ReadonlyMap<string, string>;
  /** Those that are no longer connected, while records of what they read are kept. */
  former: FormerClient[];
  /** Those of features. */
  links: ApplicationLinks;
  /** Whether there is a portal that the user may open. */
  withPortal: boolean;
  /** When the account will be deleted, if the user requested that. */
  deletionDueAt: Date | undefined;
}

/** The applications that may read the user's data, and the links to leave. */
export const applicationsPage = (props: ApplicationsPageProps): AccountPage => ({
  title: say('Connected applications'),
  part: 'sharing',
  children: <Applications {...props} />,
});

function Applications(props: ApplicationsPageProps): VNode {
  const { clients, lastReads, former, links, withPortal, deletionDueAt } = props;
  const t = useText();
  return (
    <>
      {deletionDueAt && <DeletionNotice dueAt={deletionDueAt} />}
      {withPortal && <PortalLink />}
      <PagedList
        page={clients}
        path="/account"
        label={t('More applications')}
        labels={NEXT_PREVIOUS}
        empty={t(
          'No applications are connected, so nobody can read your data through this service. Applications that you authorize appear here.',
        )}
      >
        <p class="lead">{t('You have authorized these applications to read your charging data.')}</p>
        <ul class="entries" role="list">
          {clients.items.map((client) => (
            <Application client={client} lastRead={lastReads.get(client.id)} links={links.ofEach} />
          ))}
        </ul>
      </PagedList>
      {former.length > 0 && <NoLongerConnected clients={former} />}
      {links.below.map((Link) => (
        <Link />
      ))}
      <h2>{t('Leaving')}</h2>
      <p>{t('You can take along what we hold about you, and delete your account yourself.')}</p>
      <div class="buttons">
        <LinkButton look="quiet" href={EXPORT_PATH}>
          {t('Download my data')}
        </LinkButton>
        {!deletionDueAt && (
          <LinkButton look="danger" href={DELETE_PATH}>
            {t('Delete account')}
          </LinkButton>
        )}
      </div>
    </>
  );
}

/** For those who own applications, or belong to an organisation that does. */
const PortalLink = (): VNode => (
  <p class="notice">
    <Say
      it="You can work on the applications of your organisation. <portal>Open the webhook portal</portal>"
      with={{ portal: linkTo('/portal/sign-in') }}
    />
  </p>
);

function Application({
  client,
  lastRead,
  links,
}: UseOfClient & { links: ApplicationLinks['ofEach'] }): VNode {
  const t = useText();
  const { name } = client;
  return (
    <li>
      <div class="entry-head">
        <ClientTile name={name} logoId={client.logoId} />
        <h2>
          <bdi>{name}</bdi>
        </h2>
        {!client.enabled && <span class="badge">{t('Disabled by the service')}</span>}
      </div>
      <ClientDetails of={client} />
      <WhatItReads client={client} withTakingBack />
      <Facts
        facts={[
          client.expiresAt && [t('Ends'), <Moment at={client.expiresAt} />],
          [t('Last used'), <LastUsed client={client} lastRead={lastRead} />],
        ]}
      />
      <details>
        <summary>
          <Say it="Manage<hidden> {name}</hidden>" with={{ name, hidden }} />
        </summary>
        <Facts facts={[[t('Connected'), <Moment at={client.connectedAt} />]]} />
        <p class="entry-actions">
          <HistoryLink client={client} />
          {client.canBeChanged && (
            <LinkButton look="quiet" href={accessPath(client.id)}>
              <Say it="Change access<hidden> {name}</hidden>" with={{ name, hidden }} />
            </LinkButton>
          )}
          {client.canBeRenewed && (
            <LinkButton look="quiet" href={accessPath(client.id, { renew: 'true' })}>
              <Say it="Renew<hidden> {name}</hidden>" with={{ name, hidden }} />
            </LinkButton>
          )}
          {links.map((Link) => (
            <Link client={client} />
          ))}
          <LinkButton look="danger" href={`/account/applications/${client.id}`}>
            <Say it="Disconnect<hidden> {name}</hidden>" with={{ name, hidden }} />
          </LinkButton>
        </p>
      </details>
    </li>
  );
}

const HistoryLink = ({ client: { id, name } }: { client: { id: string; name: string } }): VNode => (
  <LinkButton look="quiet" href={`/account/applications/${id}/history`}>
    <Say it="What it read<hidden>: {name}</hidden>" with={{ name, hidden }} />
  </LinkButton>
);

/** What they read can be seen as long as it is kept. */
function NoLongerConnected({ clients }: { clients: FormerClient[] }): VNode {
  const t = useText();
  return (
    <section>
      <h2>{t('No longer connected')}</h2>
      <p>{t('These applications can no longer read your data. You can still see what they have read.')}</p>
      <ul class="entries" role="list">
        {clients.map((client) => (
          <li>
            <div class="entry-head">
              <ClientTile name={client.name} logoId={null} />
              <h3>
                <bdi>{client.name}</bdi>
              </h3>
            </div>
            <Facts facts={[[t('Disconnected'), <Moment at={client.endedAt} />]]} />
            <p class="entry-actions">
              <HistoryLink client={client} />
            </p>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** The scopes as described in the catalogue; each that the user may take back alone, with the link to do so. */
export function WhatItReads({
  client: { id, access },
  withTakingBack,
}: {
  client: ConnectedClient;
  withTakingBack?: boolean;
}): VNode {
  const t = useText();
  if (access.length === 0) return <p>{t('It cannot read any of your data.')}</p>;
  return (
    <>
      <p class="entry-label">{t('It can:')}</p>
      <ul>
        {access.map(({ scope, words, optional }) => (
          <li>
            {words}{' '}
            {withTakingBack && optional && (
              <a
                class="take-back"
                href={
                  access.length === 1 ? `/account/applications/${id}` : accessPath(id, { without: scope })
                }
              >
                <Say it="Take back<hidden>: {words}</hidden>" with={{ words, hidden }} />
              </a>
            )}
          </li>
        ))}
      </ul>
    </>
  );
}

interface UseOfClient {
  client: ConnectedClient;
  /** `YYYY-MM-DD` in UTC. */
  lastRead: string | undefined;
}

const dayOf = (at: Date): string => at.toISOString().slice(0, 10);

/** The later of its last token and the last day on which it read something since it was connected. */
function LastUsed({ client, lastRead }: UseOfClient): VNode {
  const t = useText();
  const since = dayOf(client.lastUsedAt ?? client.connectedAt);
  const isLater = lastRead !== undefined && (client.lastUsedAt ? lastRead > since : lastRead >= since);
  if (isLater) return <Day day={lastRead} />;
  if (client.lastUsedAt) return <Moment at={client.lastUsedAt} />;
  return <>{t('Not recently')}</>;
}
