import type { ComponentChildren, VNode } from 'preact';
import { CsrfField } from '../../../http/pages/csrf-field.js';
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
      {Object.keys(errors).length > 0 && (
        <p class="notice notice-error" role="alert">
          {alertIn(errors)}
        </p>
      )}
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

/** Attributes that connect an input to its error and hint for screen readers. */
function described({ name, hint, errors = {} }: FieldProps): Record<string, string> {
  const ids = [errors[name] ? `${name}-error` : '', hint ? `${name}-hint` : ''].filter(Boolean).join(' ');
  return {
    ...(errors[name] ? { 'aria-invalid': 'true' } : {}),
    ...(ids ? { 'aria-describedby': ids } : {}),
  };
}

function Beside({ name, hint, errors = {} }: FieldProps): VNode {
  return (
    <>
      {errors[name] && (
        <small class="hint field-error" id={`${name}-error`}>
          {sentence(errors[name].join('; '))}
        </small>
      )}
      {hint && (
        <small class="hint" id={`${name}-hint`}>
          {hint}
        </small>
      )}
    </>
  );
}

const sentence = (text: string): string =>
  `${text.charAt(0).toUpperCase()}${text.slice(1)}`.replace(/([^.])$/, '$1.');

export interface TextFieldProps extends FieldProps {
  value?: string;
  type?: 'text' | 'email' | 'url' | 'number' | 'date' | 'datetime-local' | 'password';
  autocomplete?: string;
  required?: boolean;
}

export function TextField(props: TextFieldProps): VNode {
  const { name, label, value, type = 'text', autocomplete = 'off', required } = props;
  return (
    <div class="field">
      <label for={name}>{label}</label>
      <input
        id={name}
        name={name}
        type={type}
        value={value}
        autocomplete={autocomplete}
        required={required}
        {...described(props)}
      />
      <Beside {...props} />
    </div>
  );
}

export function TextArea(props: FieldProps & { value?: string; rows?: number }): VNode {
  return (
    <div class="field">
      <label for={props.name}>{props.label}</label>
      <textarea id={props.name} name={props.name} rows={props.rows ?? 3} {...described(props)}>
        {props.value ?? ''}
      </textarea>
      <Beside {...props} />
    </div>
  );
}

export interface Option {
  value: string;
  label: string;
}

export function SelectField(props: FieldProps & { value?: string; options: Option[] }): VNode {
  return (
    <div class="field">
      <label for={props.name}>{props.label}</label>
      <select id={props.name} name={props.name} {...described(props)}>
        {props.options.map(({ value, label }) => (
          <option value={value} selected={value === props.value}>
            {label}
          </option>
        ))}
      </select>
      <Beside {...props} />
    </div>
  );
}

export interface ChoicesProps extends FieldProps {
  type: 'checkbox' | 'radio';
  values: string[];
  options: (Option & { hint?: string })[];
}

/** Checkboxes or radio buttons. */
export function Choices(props: ChoicesProps): VNode {
  const { name, label, type, values, options } = props;
  return (
    <fieldset class="field choices" {...described(props)}>
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
      <Beside {...props} />
    </fieldset>
  );
}

export function Tick(props: FieldProps & { checked: boolean }): VNode {
  return (
    <div class="field choices">
      <label>
        <input type="checkbox" name={props.name} value="true" checked={props.checked} {...described(props)} />
        <span>{props.label}</span>
      </label>
      <Beside {...props} />
    </div>
  );
}
