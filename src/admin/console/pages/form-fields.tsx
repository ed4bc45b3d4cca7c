import type { ComponentChildren, VNode } from 'preact';
import { CsrfField } from '../../../http/pages/csrf-field.js';
import {
  describedBy,
  Field,
  FieldNotes,
  SelectField as SharedSelectField,
  TextField as SharedTextField,
  type Option,
  type TextFieldProps as SharedTextFieldProps,
} from '../../../http/pages/field.js';
import { ErrorNotice } from '../../../http/pages/notices.js';
import type { FieldErrors } from '../form-attempt.js';
import { ONCE_FIELD } from '../form-ids.service.js';

/** The password field in forms that ask for the password. */
export const PASSWORD_FIELD = 'confirm_password';

export interface ConsoleFormProps {
  action: string;
  csrfToken: string;
  /** The errors of the posted values. */
  errors?: FieldErrors;
  submit: string;
  danger?: boolean;
  /** Where Cancel leads. */
  cancel?: { href: string; label?: string };
  /** The id of what it creates: posted twice, it is created once. */
  once?: string;
  /** With our script, a second click sends nothing. */
  sentOnce?: boolean;
  children?: ComponentChildren;
}

/** A form of the console, with errors of the whole form above it and, if required, the password field. */
export function ConsoleForm(props: ConsoleFormProps): VNode {
  const { action, csrfToken, errors = {}, submit, danger, cancel, once, children } = props;
  const sentOnce = props.sentOnce ?? once !== undefined;
  return (
    <>
      {Object.keys(errors).length > 0 && <ErrorNotice>{alertIn(errors)}</ErrorNotice>}
      <form method="post" action={action} class="console-form" data-once={sentOnce ? '' : undefined}>
        <CsrfField token={csrfToken} />
        {once !== undefined && <input type="hidden" name={ONCE_FIELD} value={once} />}
        {children}
        {errors[PASSWORD_FIELD] && (
          <TextField
            name={PASSWORD_FIELD}
            label="Your password"
            type="password"
            autocomplete="current-password"
            required
            errors={errors}
          />
        )}
        <div class="console-buttons">
          <button type="submit" class={danger ? 'danger' : undefined}>
            {submit}
          </button>
          {cancel && (
            <a class="button-link quiet" href={cancel.href}>
              {cancel.label ?? 'Cancel'}
            </a>
          )}
        </div>
      </form>
    </>
  );
}

function alertIn({ form, ...fields }: FieldErrors): string {
  if (form) return form.join(' ');
  return PASSWORD_FIELD in fields
    ? 'Nothing was changed yet. Enter your password again: you last entered it more than 15 minutes ago.'
    : 'Nothing was changed. See the errors below.';
}

interface FieldProps {
  name: string;
  label: string;
  hint?: string;
  errors?: FieldErrors;
}

/** The same for the shared fields, whose id is the name, with one sentence as the error. */
const shared = ({ name, label, hint, errors = {} }: FieldProps) => ({
  id: name,
  name,
  label,
  hint,
  error: errors[name] && sentence(errors[name].join('; ')),
});

const sentence = (text: string): string =>
  `${text.charAt(0).toUpperCase()}${text.slice(1)}`.replace(/([^.])$/, '$1.');

export interface TextFieldProps extends FieldProps {
  value?: string;
  type?: SharedTextFieldProps['type'];
  autocomplete?: string;
  required?: boolean;
}

export function TextField(props: TextFieldProps): VNode {
  const { value, type, autocomplete = 'off', required } = props;
  return <SharedTextField {...shared(props)} {...{ value, type, autocomplete, required }} />;
}

export function TextArea(props: FieldProps & { value?: string; rows?: number }): VNode {
  const field = shared(props);
  return (
    <Field {...field}>
      <textarea id={props.name} name={props.name} rows={props.rows ?? 3} {...describedBy(field)}>
        {props.value ?? ''}
      </textarea>
    </Field>
  );
}

export const SelectField = (props: FieldProps & { value?: string; options: Option[] }): VNode => (
  <SharedSelectField {...shared(props)} value={props.value} options={props.options} />
);

export interface ChoicesProps extends FieldProps {
  type: 'checkbox' | 'radio';
  values: string[];
  options: (Option & { hint?: string })[];
}

/** Checkboxes or radio buttons. */
export function Choices(props: ChoicesProps): VNode {
  const { name, label, type, values, options } = props;
  return (
    <fieldset class="field choices" {...describedBy(shared(props))}>
      <legend>{label}</legend>
      {options.map((option) => (
        <label>
          <input type={type} name={name} value={option.value} checked={values.includes(option.value)} />
          <span>
            {option.label}
            {option.hint && <small class="choice-hint">{option.hint}</small>}
          </span>
        </label>
      ))}
      <FieldNotes {...shared(props)} />
    </fieldset>
  );
}

export function Tick(props: FieldProps & { checked: boolean }): VNode {
  return (
    <div class="field choices">
      <label>
        <input
          type="checkbox"
          name={props.name}
          value="true"
          checked={props.checked}
          {...describedBy(shared(props))}
        />
        <span>{props.label}</span>
      </label>
      <FieldNotes {...shared(props)} />
    </div>
  );
}
