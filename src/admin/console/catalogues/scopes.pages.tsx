import type { ScopeEntity } from '../../../scopes/scope.entity.js';
import type { FieldErrors } from '../form-attempt.js';
import type { UserLayoutProps } from '../../../users/user-page-context.js';
import { renderConsolePage } from '../pages/console-layout.js';
import { Choices, ConsoleForm, TextArea, TextField } from '../pages/form-fields.js';
import { State, Table } from '../pages/lists.js';

export const SCOPES_PATH = '/admin/console/scopes';

/** Scope names need no encoding in a path. */
export const scopePath = (name: string): string => `${SCOPES_PATH}/${name}/edit`;

/** The catalogue of scopes. */
export function scopesPage({
  layoutProps,
  scopes,
}: {
  layoutProps: UserLayoutProps;
  scopes: ScopeEntity[];
}): string {
  return renderConsolePage({
    layoutProps,
    part: 'scopes',
    title: 'Scopes',
    actions: (
      <a class="button-link" href={`${SCOPES_PATH}/new`}>
        Create scope{' '}
      </a>
    ),
    children: (
      <Table
        caption="Scopes"
        rows={scopes}
        columns={[
          { head: 'Name', cell: ({ name }) => <code>{name}</code> },
          { head: 'Description', cell: ({ description }) => description },
          {
            head: 'Audience',
            cell: ({ audience }) =>
              audience === 'operator' ? (
                <State tone="warn">operators</State>
              ) : (
                <State tone="plain">partners</State>
              ),
          },
          {
            head: 'Actions',
            cell: ({ name }) => (
              <a href={scopePath(name)}>
                Change<span class="visually-hidden"> {name}</span>
              </a>
            ),
          },
        ]}
      />
    ),
  });
}

export interface ScopeFields {
  name: string;
  description: string;
  audience: string;
}

export interface ScopeFormPageProps {
  layoutProps: UserLayoutProps;
  action: string;
  fields: ScopeFields;
  isNew: boolean;
  csrfToken: string;
  errors?: FieldErrors;
}

/** The form for creating or editing a scope. */
export function scopeFormPage({
  layoutProps,
  action,
  fields,
  isNew,
  csrfToken,
  errors,
}: ScopeFormPageProps): string {
  return renderConsolePage({
    layoutProps,
    part: 'scopes',
    title: isNew ? 'Create scope' : fields.name,
    above: [{ href: SCOPES_PATH, label: 'Scopes' }],
    children: (
      <ConsoleForm
        action={action}
        csrfToken={csrfToken}
        errors={errors}
        submit="Save"
        cancel={{ href: SCOPES_PATH }}
      >
        {isNew && (
          <TextField
            name="name"
            label="Name"
            hint="For example vehicle:read. It cannot be changed later."
            value={fields.name}
            errors={errors}
          />
        )}
        <TextArea
          name="description"
          label="Description"
          hint="Shown to users on the consent page."
          value={fields.description}
          errors={errors}
        />
        <Choices
          name="audience"
          label="Audience"
          hint="It cannot be changed while a client holds the scope."
          type="radio"
          values={[fields.audience]}
          errors={errors}
          options={[
            { value: 'partner', label: 'Partners: users are asked for consent' },
            { value: 'operator', label: 'Operators: for the company’s own services' },
          ]}
        />
      </ConsoleForm>
    ),
  });
}
