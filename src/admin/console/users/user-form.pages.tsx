import type { VNode } from 'preact';
import type { UserEntity } from '../../../users/user.entity.js';
import type { FieldErrors } from '../form-attempt.js';
import type { UserLayoutProps } from '../../../users/user-page-context.js';
import { renderConsolePage } from '../pages/console-layout.js';
import { Choices, ConsoleForm, TextField, Tick } from '../pages/form-fields.js';
import type { UserFields } from './user-form.js';
import { renderUserPage, USERS_PATH, userPath } from './user-layout.js';

interface FormProps {
  layoutProps: UserLayoutProps;
  fields: UserFields;
  csrfToken: string;
  errors?: FieldErrors;
}

/** The form for creating a user. */
export function newUserPage({ layoutProps, fields, csrfToken, errors }: FormProps): string {
  return renderConsolePage({
    layoutProps,
    part: 'users',
    title: 'Create user',
    above: [{ href: USERS_PATH, label: 'Users' }],
    children: (
      <>
        <p>
          The user has no password at first. On the next page, create a link with which the person sets one.
        </p>
        <ConsoleForm
          action={`${USERS_PATH}/new`}
          csrfToken={csrfToken}
          errors={errors}
          submit="Create user"
          cancel={{ href: USERS_PATH }}
        >
          <Fields fields={fields} errors={errors} />
        </ConsoleForm>
      </>
    ),
  });
}

/** The form for editing a user. */
export function editUserPage({
  layoutProps,
  user,
  fields,
  csrfToken,
  errors,
}: FormProps & { user: UserEntity }): string {
  return renderUserPage({
    layoutProps,
    user,
    title: 'Edit user',
    children: (
      <>
        <p>A new email address logs the user out everywhere and revokes all tokens for the account.</p>
        <ConsoleForm
          action={userPath(user.id, 'edit')}
          csrfToken={csrfToken}
          errors={errors}
          submit="Save"
          cancel={{ href: userPath(user.id) }}
        >
          <Fields fields={fields} errors={errors} />
        </ConsoleForm>
      </>
    ),
  });
}

function Fields({ fields, errors }: { fields: UserFields; errors?: FieldErrors }): VNode {
  return (
    <>
      <TextField name="email" label="Email" type="email" value={fields.email} errors={errors} />
      <TextField name="name" label="Name" value={fields.name} errors={errors} />
      <Choices
        name="kind"
        label="Kind"
        type="radio"
        values={[fields.kind]}
        errors={errors}
        options={[
          { value: 'individual', label: 'Individual' },
          { value: 'organisation', label: 'Organisation' },
        ]}
      />
      <Tick
        name="webhooks_enabled"
        label="Clients of this owner may open the webhook portal"
        checked={fields.webhooks_enabled}
        errors={errors}
      />
    </>
  );
}
