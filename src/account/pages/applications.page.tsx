import type { VNode } from 'preact';
import { Facts } from '../../web/tables/facts.js';
import { LinkButton } from '../../web/forms/form.js';
import { ClientDetails, ClientTile } from '../../web/layout/client-identity.js';
import { Moment } from '../../web/tables/moment.js';
import { NEXT_PREVIOUS, PagedList } from '../../web/tables/pager.js';
import type { Page } from '../../database/queries/read-page.js';
import type { FormerClient } from '../../disclosures/disclosure-history.js';
import type { ConnectedClient } from '../../tokens/grants/connected-client.js';
import type { AccountPage } from './account-layout.js';
import { DELETE_PATH, DeletionNotice } from './delete.pages.js';
import { EXPORT_PATH } from './export.pages.js';

export interface ApplicationsPageProps {
  clients: Page<ConnectedClient>;
  /** Those that are no longer connected, as long as what they read is kept. */
  former: FormerClient[];
  /** Whether there is a portal that the user may open. */
  withPortal: boolean;
  /** Whether the user's data can be asked for. */
  withExport: boolean;
  /** When the account will be deleted, if its user asked for that. */
  deletionDueAt: Date | undefined;
}

/** The applications that may read the user's data, and the way out. */
export function applicationsPage(props: ApplicationsPageProps): AccountPage {
  const { clients, former, withPortal, withExport, deletionDueAt } = props;
  return {
    title: 'Connected applications',
    part: 'applications',
    children: (
      <>
        {deletionDueAt && <DeletionNotice dueAt={deletionDueAt} />}
        {withPortal && <PortalLink />}
        <PagedList
          page={clients}
          path="/account"
          label="More applications"
          labels={NEXT_PREVIOUS}
          empty="No applications are connected, so nobody can read your data through this service. Applications that you authorize appear here."
        >
          <p class="lead">You have authorized these applications to read your charging data.</p>
          <ul class="entries" role="list">
            {clients.items.map((client) => (
              <Application client={client} />
            ))}
          </ul>
        </PagedList>
        {former.length > 0 && <NoLongerConnected clients={former} />}
        <p>
          <a href="/account/receipts">All receipts</a>
        </p>
        <h2>Leaving</h2>
        <p>You can take along what we hold about you, and delete your account yourself.</p>
        <div class="buttons">
          {withExport && (
            <LinkButton look="quiet" href={EXPORT_PATH}>
              Download my data
            </LinkButton>
          )}
          {!deletionDueAt && (
            <LinkButton look="quiet" href={DELETE_PATH}>
              Delete account
            </LinkButton>
          )}
        </div>
      </>
    ),
  };
}

/** For those who own applications, or belong to an organisation that does. */
const PortalLink = (): VNode => (
  <p class="notice">
    You can work on the applications of your organisation.{' '}
    <a href="/portal/sign-in">Open the partner portal</a>
  </p>
);

function Application({ client }: { client: ConnectedClient }): VNode {
  return (
    <li>
      <div class="entry-head">
        <ClientTile name={client.name} logoId={client.logoId} />
        <h2>
          <bdi>{client.name}</bdi>
        </h2>
        {!client.enabled && <span class="badge">Disabled by the service</span>}
      </div>
      <ClientDetails of={client} />
      <WhatItReads client={client} />
      <Facts
        facts={[
          ['Connected', <Moment at={client.connectedAt} />],
          client.expiresAt && ['Ends', <Moment at={client.expiresAt} />],
          ['Last used', <LastUsed client={client} />],
        ]}
      />
      <p class="entry-actions">
        <HistoryLink client={client} />
        <LinkButton look="quiet" href={`/account/applications/${client.id}`}>
          Disconnect<span class="visually-hidden"> {client.name}</span>
        </LinkButton>
        {(client.hasChoice || client.expiresAt) && (
          <LinkButton look="quiet" href={`/account/applications/${client.id}/access`}>
            {client.expiresAt ? 'Renew' : 'Change access'}
            <span class="visually-hidden"> {client.name}</span>
          </LinkButton>
        )}
        {client.receiptId && (
          <a href={`/account/receipts/${client.receiptId}`}>
            Receipt<span class="visually-hidden"> of {client.name}</span>
          </a>
        )}
      </p>
    </li>
  );
}

const HistoryLink = ({ client }: { client: { id: string; name: string } }): VNode => (
  <LinkButton look="quiet" href={`/account/applications/${client.id}/history`}>
    What it read<span class="visually-hidden">: {client.name}</span>
  </LinkButton>
);

/** What they read stays to be seen as long as it is kept. */
const NoLongerConnected = ({ clients }: { clients: FormerClient[] }): VNode => (
  <section>
    <h2>No longer connected</h2>
    <p>These applications can no longer read your data. You can still see what they have read.</p>
    <ul class="entries" role="list">
      {clients.map((client) => (
        <li>
          <div class="entry-head">
            <ClientTile name={client.name} logoId={null} />
            <h3>
              <bdi>{client.name}</bdi>
            </h3>
          </div>
          <Facts facts={[['Disconnected', <Moment at={client.endedAt} />]]} />
          <p class="entry-actions">
            <HistoryLink client={client} />
          </p>
        </li>
      ))}
    </ul>
  </section>
);

/** The scopes as described in the catalogue. */
export function WhatItReads({ client }: { client: ConnectedClient }): VNode {
  if (client.descriptions.length === 0) return <p>It cannot read any of your data.</p>;
  return (
    <>
      <p class="entry-label">It can:</p>
      <ul>
        {client.descriptions.map((description) => (
          <li>{description}</li>
        ))}
      </ul>
    </>
  );
}

function LastUsed({ client }: { client: ConnectedClient }): VNode {
  if (client.lastUsedAt) return <Moment at={client.lastUsedAt} />;
  if (client.actsInOwnName) return <>Unknown: it uses its own token and can read at any time</>;
  return <>Not recently</>;
}
