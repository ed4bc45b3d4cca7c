import type { VNode } from 'preact';
import type { UserEntity } from '../../../users/user.entity.js';
import type { FieldErrors } from '../form-attempt.js';
import { renderConsolePage, type ConsoleFrame } from '../pages/console-layout.js';
import { Choices, ConsoleForm, TextField, Tick } from '../pages/form-fields.js';
import type { UserFields } from './user-form.js';
import { renderUserPage, USERS_PATH, userPath } from './user-frame.js';

interface FormProps {
  frame: ConsoleFrame;
  fields: UserFields;
  csrfToken: string;
  errors?: FieldErrors;
}

/** The form to make a user. */
export function newUserPage({ frame, fields, csrfToken, errors }: FormProps): string {
  return renderConsolePage({
    frame,
    part: 'users',
    title: 'Make a user',
    above: [{ href: USERS_PATH, label: 'Users' }],
    children: (
      <>
        <p>
          The user has no password at first: make a link on the page that follows, with which the person sets
          one.
        </p>
        <ConsoleForm
          action={`${USERS_PATH}/new`}
          csrfToken={csrfToken}
          errors={errors}
          submit="Make the user"
          cancel={{ href: USERS_PATH }}
        >
          <Fields fields={fields} errors={errors} />
        </ConsoleForm>
      </>
    ),
  });
}

/** The form to change a user. */
export function editUserPage({
  frame,
  user,
  fields,
  csrfToken,
  errors,
}: FormProps & { user: UserEntity }): string {
  return renderUserPage({
    frame,
    user,
    title: 'Change the user',
    children: (
      <>
        <p>Another e-mail address signs the user out everywhere and ends what rests on the account.</p>
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
      <TextField name="email" label="E-mail address" type="email" value={fields.email} errors={errors} />
      <TextField name="name" label="Name" value={fields.name} errors={errors} />
      <Choices
        name="kind"
        label="Kind"
        type="radio"
        values={[fields.kind]}
        errors={errors}
        options={[
          { value: 'individual', label: 'A person' },
          { value: 'organisation', label: 'An organisation' },
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
