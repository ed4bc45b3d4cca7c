import type { VNode } from 'preact';
import { Facts } from '../../web/tables/facts.js';
import { LinkButton } from '../../web/forms/form.js';
import { InitialTile } from '../../web/layout/layout.js';
import { Moment } from '../../web/tables/moment.js';
import { NEXT_PREVIOUS, PagedList } from '../../web/tables/pager.js';
import type { Page } from '../../database/queries/read-page.js';
import type { FormerClient } from '../../disclosures/disclosure-history.js';
import type { ConnectedClient } from '../../tokens/grants/connected-client.js';
import type { AccountPage } from './account-layout.js';

/** The applications that may read the user's data. `withPortal`: whether there is a portal that the user may open. */
export function applicationsPage(
  clients: Page<ConnectedClient>,
  former: FormerClient[],
  withPortal: boolean,
): AccountPage {
  return {
    title: 'Connected applications',
    part: 'applications',
    children: (
      <>
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
        <InitialTile name={client.name} kind="application" />
        <h2>
          <bdi>{client.name}</bdi>
        </h2>
        {!client.enabled && <span class="badge">Disabled by the service</span>}
      </div>
      <WhatItReads client={client} />
      <Facts
        facts={[
          ['Connected', <Moment at={client.connectedAt} />],
          ['Last used', <LastUsed client={client} />],
        ]}
      />
      <p class="entry-actions">
        <HistoryLink client={client} />
        <LinkButton look="quiet" href={`/account/applications/${client.id}`}>
          Disconnect<span class="visually-hidden"> {client.name}</span>
        </LinkButton>
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
            <InitialTile name={client.name} kind="application" />
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
