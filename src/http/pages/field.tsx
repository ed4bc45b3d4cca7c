import type { ComponentChildren, VNode } from 'preact';

export interface FieldProps {
  id: string;
  label: string;
  hint?: ComponentChildren;
  error?: string;
}

/** Attributes that connect a field to its hint and error. */
export function describedBy({ id, hint, error }: Omit<FieldProps, 'label'>) {
  const ids = [error ? `${id}-error` : '', hint ? `${id}-hint` : ''].filter(Boolean).join(' ');
  return {
    ...(error ? { 'aria-invalid': 'true' as const } : {}),
    ...(ids ? { 'aria-describedby': ids } : {}),
  };
}

/** A label with its field, error and hint. */
export function Field({ id, label, hint, error, children }: FieldProps & { children: VNode }): VNode {
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children}
      <FieldNotes id={id} hint={hint} error={error} />
    </div>
  );
}

/** The error and hint of a field. */
export function FieldNotes({ id, hint, error }: Omit<FieldProps, 'label'>): VNode {
  return (
    <>
      {error && (
        <small class="hint field-error" id={`${id}-error`}>
          {error}
        </small>
      )}
      {hint && (
        <small class="hint" id={`${id}-hint`}>
          {hint}
        </small>
      )}
    </>
  );
}

export interface TextFieldProps extends FieldProps {
  name: string;
  value?: string;
  type?: 'text' | 'email' | 'url' | 'number' | 'date' | 'datetime-local' | 'password';
  step?: number;
  required?: boolean;
  autocomplete?: string;
  spellcheck?: boolean;
  placeholder?: string;
}

/**
 * A single-line text field. No maxLength: browsers would silently truncate a longer text; the service reports that it is too
 * long.
 */
export function TextField({ label, hint, error, type = 'text', ...input }: TextFieldProps): VNode {
  return (
    <Field id={input.id} label={label} hint={hint} error={error}>
      <input type={type} {...input} {...describedBy({ id: input.id, hint, error })} />
    </Field>
  );
}

export interface Option {
  value: string;
  label: string;
}

interface SelectFieldProps extends FieldProps {
  name: string;
  value?: string;
  options: Option[];
}

/** A choice of a few options. */
export function SelectField({ id, label, hint, error, name, value, options }: SelectFieldProps): VNode {
  return (
    <Field id={id} label={label} hint={hint} error={error}>
      <select id={id} name={name} {...describedBy({ id, hint, error })}>
        {options.map((option) => (
          <option value={option.value} selected={option.value === value}>
            {option.label}
          </option>
        ))}
      </select>
    </Field>
  );
}
