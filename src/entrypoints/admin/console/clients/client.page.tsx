import type { VNode } from 'preact';
import { usesKeys, type ClientEntity } from '#access/clients/client.entity.js';
import type { KeyInfo } from '#access/clients/keys/key-info.js';
import { ClientKeys, requirementsOf } from '#platform/web/layout/client-keys.js';
import type { SecretInfo } from '#access/clients/client-secret.entity.js';
import { ClientTile } from '#platform/web/layout/client-identity.js';
import { Facts } from '#platform/web/tables/facts.js';
import { Buttons, LinkButton, PostButton } from '#platform/web/forms/form.js';
import { ExactMoment, Hour, RecentMoment } from '#platform/web/tables/moment.js';
import { Enabled, State } from '#platform/web/tables/state.js';
import { Table } from '#platform/web/tables/table.js';
import type { ScopeEntity } from '#access/scopes/scope.entity.js';
import type { UserEntity } from '#access/users/accounts/user.entity.js';
import type { ConsolePage } from '../pages/console-layout.js';
import { Id, NameLink, CommaList, PageLink, EnvironmentName } from '../pages/lists.js';
import { clientPath, aboutClient } from './client-layout.js';

export interface ClientProps {
  client: ClientEntity;
  owner: UserEntity | null;
  secrets: SecretInfo[];
  keys: KeyInfo[];
  scopes: ScopeEntity[];
}

/** One client: its properties, its secrets, and actions on it. */
export function clientPage({ client, owner, secrets, keys, scopes }: ClientProps): ConsolePage {
  return aboutClient(client, {
    current: 'client',
    actions: (
      <>
        <LinkButton look="quiet" href={clientPath(client.id, 'logo')}>
          Logo
        </LinkButton>
        <LinkButton look="quiet" href={clientPath(client.id, 'edit')}>
          Edit
        </LinkButton>
      </>
    ),
    children: (
      <>
        <Facts
          facts={[
            ['Name', <bdi>{client.name}</bdi>],
            client.organisation !== null && ['Organisation', <bdi>{client.organisation}</bdi>],
            client.site !== null && ['Website', <PageLink url={client.site} />],
            client.privacyPolicy !== null && ['Privacy policy', <PageLink url={client.privacyPolicy} />],
            client.logoId !== null && ['Logo', <ClientTile {...client} />],
            client.description !== '' && ['Description', <bdi>{client.description}</bdi>],
            ['Client ID', <Id id={client.id} />],
            ['State', <Enabled enabled={client.enabled} />],
            ['Environment', <EnvironmentName of={client} />],
            ['Type', client.type],
            [
              'Owner',
              owner ? (
                <NameLink href={`/admin/console/users/${owner.id}`} name={owner.name} />
              ) : (
                client.ownerId
              ),
            ],
            ['Grant types', <CommaList items={client.grantTypes} />],
            [
              'Scopes',
              <ul class="plain">
                {scopes.map(({ name, description }) => (
                  <li>
                    <code>{name}</code> <span class="muted">{description}</span>
                  </li>
                ))}
              </ul>,
            ],
            client.optionalScopes.length > 0 && [
              'Optional scopes',
              <CommaList items={client.optionalScopes} />,
            ],
            client.purposes.length > 0 && ['Purposes', <CommaList items={client.purposes} />],
            client.consentExpiryDays !== null && ['A consent ends after', days(client.consentExpiryDays)],
            client.gatekeeper && ['Gatekeeper', 'yes: users cannot share data with it'],
            [
              'Redirect URIs',
              client.redirectUris.length === 0 ? (
                <span class="muted">none</span>
              ) : (
                <ul class="plain">
                  {client.redirectUris.map((uri) => (
                    <li>
                      <code>{uri}</code>
                    </li>
                  ))}
                </ul>
              ),
            ],
            [
              'Requests per hour',
              client.rateLimit === null ? 'service default' : `${client.rateLimit} for each user`,
            ],
            client.accessTokenLifetime !== null && [
              'An access token lives',
              `${client.accessTokenLifetime} seconds`,
            ],
            ...requirementsOf(client),
            client.resourceIndicators.length > 0 && [
              'Resource indicators',
              <CommaList items={client.resourceIndicators} />,
            ],
            client.companyService && ['Company service', 'yes: no operator’s role limits its scopes'],
            ['Created', <ExactMoment at={client.createdAt} />],
          ]}
        />
        {(usesKeys(client) || keys.length > 0) && <ClientKeys client={client} keys={keys} />}
        {client.type === 'confidential' && !usesKeys(client) && <Secrets client={client} secrets={secrets} />}
        <Buttons heading="Manage access">
          {client.enabled ? (
            <LinkButton look="quiet" href={clientPath(client.id, 'disable')}>
              Disable
            </LinkButton>
          ) : (
            <PostButton action={clientPath(client.id, 'enable')} look="quiet">
              Enable
            </PostButton>
          )}
          <LinkButton look="quiet" href={clientPath(client.id, 'revoke')}>
            Revoke all tokens
          </LinkButton>
          <LinkButton look="danger" href={clientPath(client.id, 'delete')}>
            Delete
          </LinkButton>
        </Buttons>
      </>
    ),
  });
}

const days = (count: number): string => (count === 1 ? '1 day' : `${count} days`);

function Secrets({ client, secrets }: { client: ClientEntity; secrets: SecretInfo[] }): VNode {
  return (
    <>
      <h2>Secrets</h2>
      {secrets.length === 0 ? (
        <p class="empty">It has no secret, so it cannot authenticate.</p>
      ) : (
        <Table
          caption="Secrets"
          rows={secrets}
          columns={[
            { head: 'Created', cell: ({ createdAt }) => <RecentMoment at={createdAt} /> },
            {
              head: 'State',
              cell: ({ isExpired }) =>
                isExpired ? <State tone="bad">Expired</State> : <State tone="good">Active</State>,
              onPhone: 'beside',
            },
            {
              head: 'Expires',
              cell: ({ expiresAt }) => (expiresAt ? <RecentMoment at={expiresAt} /> : 'never'),
              onPhone: 'named',
            },
            {
              head: 'Last used',
              cell: ({ lastUsedAt }) => (lastUsedAt ? <Hour at={lastUsedAt} /> : 'not yet'),
              onPhone: 'named',
            },
          ]}
        />
      )}
      {secrets.length > 0 && (
        <p class="muted">When a secret was last used is known to the hour, and noted within a few seconds.</p>
      )}
      <Buttons>
        <LinkButton look="quiet" href={clientPath(client.id, 'secret')}>
          Rotate secret
        </LinkButton>
      </Buttons>
    </>
  );
}
