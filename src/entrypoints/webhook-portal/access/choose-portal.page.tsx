import type { VNode } from 'preact';
import { LinkButton, PostButton } from '#platform/web/forms/form.js';
import { ClientTile } from '#platform/web/layout/client-identity.js';
import { LogoutButton, SignedInAs, type LayoutProps } from '#platform/web/layout/layout.js';
import { CountBadge } from '#platform/web/layout/navigation.js';
import { ErrorNotice } from '#platform/web/layout/notices.js';
import { SandboxBadge } from '#platform/web/layout/sandbox-badge.js';
import type { OpenableClient } from './member-sessions.repository.js';
import { PORTAL_FOOTER, PORTAL_SIGN_IN_PATH } from '../frame/portal-layout.js';

export interface ChoosePortalProps {
  user: { name: string; email: string };
  /** By organisation. */
  clients: OpenableClient[];
  /** Why the portal could not be opened. */
  error?: string;
}

/** The applications of the visitor's organisations, each with a button that opens its portal. */
export const choosePortalPage = ({ user, clients, error }: ChoosePortalProps): LayoutProps => ({
  title: 'Webhook portal',
  width: 'wide',
  footer: PORTAL_FOOTER,
  children: (
    <>
      <h1>Webhook portal</h1>
      {error && <ErrorNotice>{error}</ErrorNotice>}
      {clients.length === 0 ? (
        <p class="empty">
          You belong to no organisation with a client. An admin of the organisation can invite you.
        </p>
      ) : (
        organisationsOf(clients).map((ofOne) => <Organisation clients={ofOne} />)
      )}
      <section class="account-identity" aria-label="Logged in user">
        <SignedInAs name={user.name} email={user.email} />
        <LinkButton look="quiet" href="/account">
          Your account
        </LinkButton>
        <LogoutButton />
      </section>
    </>
  ),
});

function Organisation({ clients }: { clients: OpenableClient[] }): VNode {
  const { organisationName, role } = clients[0]!;
  return (
    <section>
      <h2>
        <bdi>{organisationName}</bdi>
      </h2>
      <p>Your role is {role}.</p>
      <ul class="entries" role="list">
        {clients.map(({ id, name, logoId, environment, failing }) => (
          <li>
            <div class="entry-head">
              <ClientTile name={name} logoId={logoId} />
              <h3>
                <bdi>{name}</bdi>
              </h3>{' '}
              <SandboxBadge of={{ environment }} />
              <CountBadge
                count={{ number: failing, word: failing === 1 ? 'endpoint failing' : 'endpoints failing' }}
              />
            </div>
            <p>
              Client ID <code>{id}</code>
            </p>
            <PostButton action={`${PORTAL_SIGN_IN_PATH}/${id}`}>
              Open<span class="visually-hidden"> {name}</span>
            </PostButton>
          </li>
        ))}
      </ul>
    </section>
  );
}

function organisationsOf(clients: OpenableClient[]): OpenableClient[][] {
  const found = new Map<string, OpenableClient[]>();
  for (const client of clients) {
    found.set(client.organisationId, [...(found.get(client.organisationId) ?? []), client]);
  }
  return [...found.values()];
}
