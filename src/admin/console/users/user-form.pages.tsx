import type { VNode } from 'preact';
import { Choices, SelectField, TextField, Tick } from '../../../web/forms/field.js';
import { ENGLISH_NAMES, LANGUAGES } from '../../../language/languages.js';
import type { UserEntity } from '../../../users/accounts/user.entity.js';
import type { FieldErrors } from '../form-attempt.js';
import { ConsoleForm } from '../pages/console-form.js';
import { ForAdmins } from '../pages/for-admins.js';
import type { ConsolePage } from '../pages/console-layout.js';
import type { UserFields } from './user-form.js';
import { aboutUser, USERS_PATH, userPath } from './user-layout.js';

interface FormProps {
  fields: UserFields;
  errors?: FieldErrors;
}

/** The form for creating a user. */
export function newUserPage({ fields, errors }: FormProps): ConsolePage {
  return {
    part: 'users',
    title: 'Create user',
    above: [{ href: USERS_PATH, label: 'Users' }],
    children: (
      <>
        <p>
          The user has no password at first. On the next page, create a link with which the person sets one.
        </p>
        <ConsoleForm
          values={{ ...fields, language: fields.language ?? '' }}
          errors={errors}
          action={`${USERS_PATH}/new`}
          submit="Create user"
          cancel={USERS_PATH}
        >
          <Fields />
        </ConsoleForm>
      </>
    ),
  };
}

/** The form for editing a user. */
export function editUserPage({ user, fields, errors }: FormProps & { user: UserEntity }): ConsolePage {
  return aboutUser(user, {
    title: 'Edit user',
    children: (
      <>
        <p>A new email address logs the user out everywhere and revokes all tokens for the account.</p>
        <ConsoleForm
          values={{ ...fields, language: fields.language ?? '' }}
          errors={errors}
          action={userPath(user.id, 'edit')}
          submit="Save"
          cancel={userPath(user.id)}
        >
          <Fields />
        </ConsoleForm>
      </>
    ),
  });
}

function Fields(): VNode {
  return (
    <>
      <TextField name="email" label="Email" type="email" />
      <Tick
        name="email_verified"
        label="I vouch that this address is the user’s"
        hint="Without this, the address counts as confirmed once the user opens a link that is mailed to it."
      />
      <TextField name="name" label="Name" />
      <SelectField
        name="language"
        label="Language"
        hint="Mail to drivers is written in it. The person can choose another one on any page."
        options={[
          { value: '', label: 'Not known' },
          ...LANGUAGES.map((value) => ({ value, label: ENGLISH_NAMES[value] })),
        ]}
      />
      <Choices
        name="kind"
        label="Kind"
        type="radio"
        options={[
          { value: 'individual', label: 'Individual' },
          { value: 'organisation', label: 'Organisation' },
        ]}
      />
      <ForAdmins>
        <Tick name="webhooks_enabled" label="Clients of this owner may open the webhook portal" />
      </ForAdmins>
    </>
  );
}
