import type { ComponentChildren, VNode } from 'preact';
import { CsrfField } from '../../../http/pages/csrf-field.js';
import type { FieldErrors } from '../form-attempt.js';

export interface ConsoleFormProps {
  action: string;
  csrfToken: string;
  /** What is wrong with what was posted. */
  errors?: FieldErrors;
  submit: string;
  danger?: boolean;
  /** Where the other way leads. */
  cancel?: { href: string; label?: string };
  children?: ComponentChildren;
}

/** A form of the console, with what is wrong with the whole above it. */
export function ConsoleForm(props: ConsoleFormProps): VNode {
  const { action, csrfToken, errors = {}, submit, danger, cancel, children } = props;
  const whole = errors['form'] ?? [];
  return (
    <>
      {Object.keys(errors).length > 0 && (
        <p class="notice notice-error" role="alert">
          {whole.length > 0
            ? whole.join(' ')
            : 'Nothing was changed. What is wrong stands beside the fields.'}
        </p>
      )}
      <form method="post" action={action} class="console-form">
        <CsrfField token={csrfToken} />
        {children}
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

interface FieldProps {
  name: string;
  label: string;
  hint?: string;
  errors?: FieldErrors;
}

/** What belongs to a field's input, so that its error and hint are read out with it. */
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

/** The admin API's words; what is null there is a field left empty here. */
const sentence = (text: string): string =>
  `${text.charAt(0).toUpperCase()}${text.slice(1)}.`.replace(', or null', ', or empty');

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

/** Several to tick, or one of several. */
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
