import { createContext, type ComponentChildren, type VNode } from 'preact';
import { useContext } from 'preact/hooks';
import type { Said } from '#platform/language/text.js';
import { useShown } from '../layout/say.js';
import { timeAttributes } from './utc-time.js';

/** What the fields of a form show, by name. */
export type FieldValues = Partial<Record<string, string | string[] | boolean>>;

/** What is wrong with a form, by the name of the field; `form` is about the whole. */
export type FieldErrors = Partial<Record<string, string | Said | (string | Said)[]>>;

interface FormState {
  values: FieldValues;
  errors: FieldErrors;
}

const State = createContext<FormState>({ values: {}, errors: {} });

/** Gives the fields inside it their values and errors. */
export const FormFields = (props: Partial<FormState> & { children: ComponentChildren }): VNode => (
  <State.Provider value={{ values: props.values ?? {}, errors: props.errors ?? {} }}>
    {props.children}
  </State.Provider>
);

export interface FieldProps {
  name: string;
  /** By default the name. */
  id?: string;
  label: string;
  hint?: string;
}

/** The state of a field, and the attributes that connect it to its error and hint. */
function useField({ name, id = name, hint }: FieldProps) {
  const shown = useShown();
  const { values, errors } = useContext(State);
  const wrong = errors[name];
  const error = wrong && sentence([wrong].flat().map(shown).join('; '));
  const describedBy = [error && `${id}-error`, hint && `${id}-hint`].filter(Boolean).join(' ');
  return {
    id,
    value: values[name],
    notes: <Notes id={id} hint={hint} error={error} />,
    attributes: {
      ...(error ? { 'aria-invalid': 'true' as const } : {}),
      ...(describedBy ? { 'aria-describedby': describedBy } : {}),
    },
  };
}

const sentence = (text: string): string =>
  `${text.charAt(0).toUpperCase()}${text.slice(1)}${text.endsWith('.') ? '' : '.'}`;

function Notes({ id, hint, error }: { id: string; hint?: string; error?: string }): VNode {
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
  type?: 'text' | 'url' | 'date' | 'datetime-local' | 'password';
  step?: number;
  minLength?: number;
  required?: boolean;
  autocomplete?: string;
  /** For an address, not type="email": browsers reject an umlaut, or rewrite the domain. */
  inputMode?: 'numeric' | 'email';
  spellcheck?: boolean;
  placeholder?: string;
  /** What is offered, by name; anything else can be typed. */
  offers?: readonly Option[];
}

const shownAs = (type: string, value: string | undefined): { type: string; value?: string } => {
  if (type === 'password') return { type };
  return type === 'date' || type === 'datetime-local' ? timeAttributes(type, value ?? '') : { type, value };
};

/** A field for a time in UTC, to the second. */
export const timeField = (name: string, label: string): TextFieldProps => ({
  name,
  label,
  type: 'datetime-local',
  step: 1,
});

/**
 * A single-line text field. No maxLength: browsers would silently truncate a longer text; the service reports that it is too
 * long.
 */
export function TextField({
  label,
  hint,
  type = 'text',
  autocomplete = 'off',
  offers = [],
  ...input
}: TextFieldProps): VNode {
  const { id, value, attributes, notes } = useField({ label, hint, ...input });
  const list = offers.length > 0 ? `${id}-offers` : undefined;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        {...shownAs(type, value as string | undefined)}
        autocomplete={autocomplete}
        autoCapitalize={input.inputMode === 'email' ? 'none' : undefined}
        {...input}
        id={id}
        list={list}
        {...attributes}
      />
      {list && (
        <datalist id={list}>
          {offers.map((offer) => (
            <option value={offer.value}>{offer.label}</option>
          ))}
        </datalist>
      )}
      {notes}
    </div>
  );
}

/** A file to be chosen; its form has `withFile`. */
export function FileField({ label, hint, accept, ...input }: FieldProps & { accept: string }): VNode {
  const { id, attributes, notes } = useField({ label, hint, ...input });
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input type="file" accept={accept} {...input} id={id} {...attributes} />
      {notes}
    </div>
  );
}

export interface TextAreaProps extends FieldProps {
  rows?: number;
  spellcheck?: boolean;
}

/** A text field of several lines. */
export function TextArea({ label, hint, rows = 3, ...area }: TextAreaProps): VNode {
  const { id, value, attributes, notes } = useField({ label, hint, ...area });
  const text = String(value ?? '');
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <textarea rows={rows} {...area} id={id} {...attributes}>
        {/* Browsers drop a line break at the beginning, so one is added. */}
        {/^[\r\n]/.test(text) ? `\n${text}` : text}
      </textarea>
      {notes}
    </div>
  );
}

export interface Option {
  value: string;
  label: string;
}

/** A choice of a few options. */
export function SelectField({ options, ...field }: FieldProps & { options: Option[] }): VNode {
  const { id, value = '', attributes, notes } = useField(field);
  return (
    <div class="field">
      <label for={id}>{field.label}</label>
      <select id={id} name={field.name} {...attributes}>
        {options.map((option) => (
          <option value={option.value} selected={option.value === value}>
            {option.label}
          </option>
        ))}
      </select>
      {notes}
    </div>
  );
}

export interface ChoicesProps extends FieldProps {
  type: 'checkbox' | 'radio';
  options: ChoiceOption[];
  /** The group of an option, whose name stands above it; groups are in the order of their first options. */
  groupOf?: (option: ChoiceOption) => string;
  /** Checkboxes that look like switches, a row for each. */
  asSwitches?: boolean;
}

type ChoiceOption = Option & { hint?: string };

/** Checkboxes or radio buttons. */
export function Choices({ type, options, groupOf, asSwitches, ...field }: ChoicesProps): VNode {
  const { id, value = [], attributes, notes } = useField(field);
  const groups = groupOf && [...new Set(options.map(groupOf))];
  const choicesOf = (some: ChoiceOption[]): VNode[] =>
    some.map(({ value: each, label, hint }) => (
      <div class="choice">
        <label>
          <input
            type={type}
            name={field.name}
            value={each}
            checked={[value].flat().includes(each)}
            aria-describedby={hint && `${id}-${each}-hint`}
          />
          <span>{label}</span>
        </label>
        {hint && (
          <small class="choice-hint" id={`${id}-${each}-hint`}>
            {hint}
          </small>
        )}
      </div>
    ));
  return (
    <fieldset class={asSwitches ? 'field choices switches' : 'field choices'} {...attributes}>
      <legend>{field.label}</legend>
      {groups?.map((group) => (
        <fieldset class="choice-group" data-select-all={group}>
          <legend class="muted">{group}</legend>
          {choicesOf(options.filter((option) => groupOf!(option) === group))}
        </fieldset>
      )) ?? choicesOf(options)}
      {notes}
    </fieldset>
  );
}

/** One checkbox. */
export function Tick(field: FieldProps): VNode {
  const { value, attributes, notes } = useField(field);
  return (
    <div class="field choices">
      <label>
        <input type="checkbox" name={field.name} value="true" checked={value === true} {...attributes} />
        <span>{field.label}</span>
      </label>
      {notes}
    </div>
  );
}
