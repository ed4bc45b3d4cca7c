import type { ClientEntity } from '#access/clients/client.entity.js';
import type { ConsentedUser } from '#access/consents/consent.entity.js';
import { Choices, TextArea, TextField, type Option, type FieldErrors } from '#platform/web/forms/field.js';
import { LinkButton } from '#platform/web/forms/form.js';
import { RecentMoment } from '#platform/web/tables/moment.js';
import { NEXT_PREVIOUS } from '#platform/web/tables/pager.js';
import { PagedTable, type Column } from '#platform/web/tables/table.js';
import type { Page } from '#platform/database/queries/read-page.js';
import type { ScopeEntity } from '#access/scopes/scope.entity.js';
import { ConsoleForm } from '../pages/console-form.js';
import { type ConsolePage, ActionOn } from '../pages/console-layout.js';
import { Disconnection } from '../pages/disconnection.js';
import { NameLink, RowLink, CommaList } from '../pages/lists.js';
import { clientPath, aboutClient } from './client-layout.js';

interface Props {
  client: ClientEntity;
}

/** The users who share data with the client. */
export function consentsPage({
  client,
  page,
  operators,
}: Props & { page: Page<ConsentedUser>; operators: ReadonlySet<string> }): ConsolePage {
  return aboutClient(client, {
    current: 'consents',
    actions: (
      <LinkButton look="quiet" href={clientPath(client.id, 'consents/new')}>
        Record consent
      </LinkButton>
    ),
    children: (
      <PagedTable
        caption="Users who share data with this client"
        isOneLine
        page={page}
        path={clientPath(client.id, 'consents')}
        empty="No user shares data with this client."
        labels={NEXT_PREVIOUS}
        columns={[
          {
            head: 'User',
            cell: ({ id, name }) => <NameLink href={`/admin/console/users/${id}`} name={name} />,
          },
          { head: 'Email', cell: ({ email }) => <bdi>{email}</bdi> },
          { head: 'Scopes', cell: ({ scopes }) => <CommaList items={scopes} /> },
          {
            head: 'Since',
            cell: ({ grantedAt }) => <RecentMoment at={new Date(grantedAt)} />,
            onPhone: 'unfolded',
          },
          ...(page.items.some(({ expiresAt }) => expiresAt !== null) ? [ENDS] : []),
          {
            head: 'Actions',
            leadsTo: ({ id }) => ['GET', clientPath(client.id, `consents/${id}/disconnect`)],
            onPhone: 'at-end',
            cell: ({ id, name }) => (
              <ActionOn isOperator={operators.has(id)}>
                <RowLink href={clientPath(client.id, `consents/${id}/disconnect`)} about={name}>
                  Disconnect
                </RowLink>
              </ActionOn>
            ),
          },
        ]}
      />
    ),
  });
}

/** Where at least one ends. */
const ENDS: Column<ConsentedUser> = {
  head: 'Ends',
  cell: ({ expiresAt }) => (expiresAt === null ? 'never' : <RecentMoment at={new Date(expiresAt)} />),
  onPhone: 'unfolded',
};

/** Explains the consequences of disconnecting a user from the client before it is done. */
export function disconnectUserPage({ client, user }: Props & { user: ConsentedUser }): ConsolePage {
  return aboutClient(client, {
    title: 'Disconnect user',
    isAboutOperator: user.role === 'operator',
    children: (
      <Disconnection
        client={client}
        user={user}
        action={clientPath(client.id, `consents/${user.id}/disconnect`)}
        cancel={clientPath(client.id, 'consents')}
      />
    ),
  });
}

export interface ConsentFields {
  /** The id or email. */
  user: string;
  scopes: string[];
  evidence: string;
}

/** The form to record a consent that was given elsewhere. */
export function newConsentPage({
  client,
  scopes,
  users,
  fields,
  errors,
}: Props & {
  scopes: ScopeEntity[];
  users: Option[];
  fields: ConsentFields;
  errors?: FieldErrors;
}): ConsolePage {
  return aboutClient(client, {
    title: 'Record consent',
    children: (
      <>
        <p>
          Use this for consent that the user gave elsewhere, such as in a contract. It replaces any earlier
          consent, and the user is notified.
        </p>
        <ConsoleForm
          values={{ ...fields }}
          errors={errors}
          action={clientPath(client.id, 'consents/new')}
          submit="Record consent"
          cancel={clientPath(client.id, 'consents')}
        >
          <TextField name="user" label="User" hint="Email or ID." offers={users} />
          <Choices
            name="scopes"
            label="Scopes that the user agreed to"
            type="checkbox"
            options={scopes.map(({ name, description }) => ({ value: name, label: name, hint: description }))}
          />
          <TextArea
            name="evidence"
            label="Evidence"
            hint="Proof of the consent, such as the number of the contract."
          />
        </ConsoleForm>
      </>
    ),
  });
}
