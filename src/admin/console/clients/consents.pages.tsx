import type { ClientEntity } from '../../../clients/client.entity.js';
import type { ConsentedUser } from '../../../consents/consents.repository.js';
import { ExactMoment } from '../../../http/pages/moment.js';
import type { Page } from '../../../http/paging.js';
import type { ScopeEntity } from '../../../scopes/scope.entity.js';
import type { FieldErrors } from '../form-attempt.js';
import type { UserLayoutProps } from '../../../users/user-page-context.js';
import { Disconnection } from '../pages/disconnection.js';
import { Choices, ConsoleForm, TextArea, TextField } from '../pages/form-fields.js';
import { NEXT_PREVIOUS, PagedTable, Words } from '../pages/lists.js';
import { clientPath, renderClientPage } from './client-layout.js';

interface Props {
  layoutProps: UserLayoutProps;
  client: ClientEntity;
}

/** The users who share data with the client. */
export function consentsPage({ layoutProps, client, page }: Props & { page: Page<ConsentedUser> }): string {
  return renderClientPage({
    layoutProps,
    client,
    part: 'consents',
    actions: (
      <a class="button-link quiet" href={clientPath(client.id, 'consents/new')}>
        Record consent{' '}
      </a>
    ),
    children: (
      <PagedTable
        caption="Users who share data with this client"
        page={page}
        idOf={({ id }) => id}
        path={clientPath(client.id, 'consents')}
        empty="No user shares data with this client."
        words={NEXT_PREVIOUS}
        columns={[
          {
            head: 'User',
            cell: ({ id, name, email }) => (
              <>
                <a href={`/admin/console/users/${id}`}>
                  <bdi>{name}</bdi>
                </a>
                <bdi class="under muted">{email}</bdi>
              </>
            ),
          },
          { head: 'Scopes', cell: ({ scopes }) => <Words words={scopes} /> },
          { head: 'Since', cell: ({ grantedAt }) => <ExactMoment at={new Date(grantedAt)} /> },
          {
            head: 'Actions',
            cell: ({ id, name }) => (
              <a href={clientPath(client.id, `consents/${id}/disconnect`)}>
                Disconnect<span class="visually-hidden"> {name}</span>
              </a>
            ),
          },
        ]}
      />
    ),
  });
}

/** Explains the consequences of disconnecting a user from the client before it is done. */
export function disconnectUserPage({
  layoutProps,
  client,
  user,
  csrfToken,
}: Props & { user: ConsentedUser; csrfToken: string }): string {
  return renderClientPage({
    layoutProps,
    client,
    title: 'Disconnect user',
    children: (
      <Disconnection
        word="client"
        client={client}
        user={user}
        action={clientPath(client.id, `consents/${user.id}/disconnect`)}
        csrfToken={csrfToken}
        back={clientPath(client.id, 'consents')}
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
  layoutProps,
  client,
  scopes,
  fields,
  csrfToken,
  errors,
}: Props & {
  scopes: ScopeEntity[];
  fields: ConsentFields;
  csrfToken: string;
  errors?: FieldErrors;
}): string {
  return renderClientPage({
    layoutProps,
    client,
    title: 'Record consent',
    children: (
      <>
        <p>
          Use this for consent that the user gave elsewhere, such as in a contract. It replaces any earlier
          consent, and the user is notified.
        </p>
        <ConsoleForm
          action={clientPath(client.id, 'consents/new')}
          csrfToken={csrfToken}
          errors={errors}
          submit="Record consent"
          cancel={{ href: clientPath(client.id, 'consents') }}
        >
          <TextField name="user" label="User" hint="Email or ID." value={fields.user} errors={errors} />
          <Choices
            name="scopes"
            label="Scopes that the user agreed to"
            type="checkbox"
            values={fields.scopes}
            options={scopes.map(({ name, description }) => ({ value: name, label: name, hint: description }))}
            errors={errors}
          />
          <TextArea
            name="evidence"
            label="Evidence"
            hint="Proof of the consent, such as the number of the contract."
            value={fields.evidence}
            errors={errors}
          />
        </ConsoleForm>
      </>
    ),
  });
}
