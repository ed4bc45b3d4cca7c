import { createContext, toChildArray, type ComponentChildren, type VNode } from 'preact';
import { useContext } from 'preact/hooks';
import {
  FormFields,
  SelectField,
  TextField,
  type FieldErrors,
  type FieldProps,
  type FieldValues,
  type Option,
  type TextFieldProps,
} from './field.js';
import { useMayUse } from '../layout/may-use.js';
import { ErrorNotice } from '../layout/notices.js';
import { useShown, useText } from '../layout/say.js';

/** The CSRF token of a form, by the path that it is posted to. */
export type TokenFor = (action: string) => string;

/** Makes the tokens of all forms of a page. */
export const FormTokens = createContext<TokenFor>(() => {
  throw new Error('A page with a form is rendered with its context.');
});

/** The name of the hidden field with the id of what a form creates: posted twice, it is created once. */
export const ONCE_FIELD = 'once';

export interface PostFormProps {
  action: string;
  /** For fields and buttons that stand elsewhere on the page. */
  id?: string;
  class?: string;
  /** Hidden fields. */
  hidden?: Record<string, string | undefined>;
  /** The id of what it creates. */
  once?: string;
  /** With our script, a second click sends nothing. */
  sentOnce?: boolean;
  /** Whether a file is sent with it. */
  withFile?: boolean;
  /** Whether the browser leaves it to the service to check the fields. */
  noValidate?: boolean;
  /** What our script makes a passkey from, whose answer it fills in; without the script the form is hidden. */
  passkeyCreation?: object;
  children?: ComponentChildren;
}

/** A form that is posted, with its CSRF token; nothing for a visitor who may not post it. */
export function PostForm({
  hidden,
  once,
  sentOnce,
  passkeyCreation,
  withFile,
  children,
  ...form
}: PostFormProps): VNode | null {
  if (!useMayUse()('POST', form.action)) return null;
  const token = useContext(FormTokens)(form.action);
  const fields = Object.entries({ csrf_token: token, [ONCE_FIELD]: once, ...hidden });
  return (
    <form
      method="post"
      {...form}
      enctype={withFile ? 'multipart/form-data' : undefined}
      hidden={passkeyCreation !== undefined}
      data-passkey-creation={passkeyCreation && JSON.stringify(passkeyCreation)}
      data-once={(sentOnce ?? once !== undefined) ? '' : undefined}
    >
      {fields.map(
        ([name, value]) => value !== undefined && <input type="hidden" name={name} value={value} />,
      )}
      {children}
    </form>
  );
}

export interface PostButtonProps extends PostFormProps {
  look?: 'quiet' | 'danger' | 'link-button';
}

/** A button that posts a form without visible fields. */
export const PostButton = ({ look, children, ...form }: PostButtonProps): VNode => (
  <PostForm {...form}>
    <button type="submit" class={look}>
      {children}
    </button>
  </PostForm>
);

export interface LinkButtonProps {
  href: string;
  look?: 'quiet' | 'danger';
  children: ComponentChildren;
}

/** A link that looks like a button; nothing for a visitor who may not follow it. */
export function LinkButton({ href, look, children }: LinkButtonProps): VNode | null {
  if (!useMayUse()('GET', href)) return null;
  return (
    <a class={look ? `button-link ${look}` : 'button-link'} href={href}>
      {children}
    </a>
  );
}

/** Buttons in a row, under a heading; without one that the visitor may use, nothing. */
export function Buttons({
  heading,
  children,
}: {
  heading?: string;
  children: ComponentChildren;
}): VNode | null {
  const mayUse = useMayUse();
  const isUsable = (child: VNode<Partial<LinkButtonProps & PostFormProps>>): boolean =>
    child.props.action === undefined
      ? mayUse('GET', child.props.href ?? '')
      : mayUse('POST', child.props.action);
  const usable = toChildArray(children).filter(
    (child) => typeof child === 'object' && isUsable(child as VNode),
  );
  if (usable.length === 0) return null;
  return (
    <>
      {heading && <h2>{heading}</h2>}
      <div class="buttons">{usable}</div>
    </>
  );
}

export interface PageFormProps extends PostFormProps {
  /** What its fields show. */
  values?: FieldValues;
  errors?: FieldErrors;
  /** Said above a form with errors, unless `errors.form` says more. */
  alert?: string;
  submit: string;
  isDanger?: boolean;
  /** For all forms of a page but the one that it is for: one button of a page is filled. */
  isQuiet?: boolean;
  /** Where Cancel leads. */
  cancel?: string;
  /** Another word for Cancel. */
  keep?: string;
  /** Another button of the form, before the one that submits it. */
  otherButton?: ComponentChildren;
}

/** A form with its errors, its fields, and its buttons in a row. */
export function PageForm(props: PageFormProps): VNode {
  const {
    values,
    errors = {},
    alert,
    submit,
    isDanger,
    isQuiet,
    cancel,
    keep,
    otherButton,
    children,
    ...form
  } = props;
  const t = useText();
  const shown = useShown();
  const message = [errors.form ?? alert ?? ''].flat().map(shown).join(' ');
  return (
    <>
      {message && Object.keys(errors).length > 0 && <ErrorNotice>{message}</ErrorNotice>}
      <PostForm {...form}>
        <FormFields values={values} errors={errors}>
          {children}
        </FormFields>
        <div class="buttons">
          {otherButton}
          <button type="submit" class={isDanger ? 'danger' : isQuiet ? 'quiet' : undefined}>
            {submit}
          </button>
          {cancel && (
            <LinkButton look="quiet" href={cancel}>
              {keep ?? t('Cancel')}
            </LinkButton>
          )}
        </div>
      </PostForm>
    </>
  );
}

/** A field of a filter: text, or one of these options, of which the first stands for none. */
export type FilterField = TextFieldProps | (FieldProps & { options: Option[] });

export interface FilterFormProps {
  /** Path of the list; “Show all” leads there. By default the form stays on its page, and shows no such link. */
  path?: string;
  values: FieldValues;
  errors?: FieldErrors;
  /** Said above a form with errors. */
  alert?: string;
  submit?: string;
  fields: readonly FilterField[];
  /** Hidden fields. */
  hidden?: Record<string, string>;
}

/** How many fields stand in one line: of more, the last ones are folded. */
const IN_LINE = 4;

/** A form that filters a list; it changes nothing, so it is sent by GET. */
export function FilterForm({
  path,
  values,
  errors = {},
  alert,
  submit,
  fields,
  hidden = {},
}: FilterFormProps) {
  const t = useText();
  const shown = useShown();
  const isWrong = Object.keys(errors).length > 0;
  const first = fields.length > IN_LINE ? fields.slice(0, IN_LINE - 1) : fields;
  const more = fields.slice(first.length);
  const fieldOf = (field: FilterField): VNode =>
    'options' in field ? (
      <SelectField {...field} options={withChosen(field.options, values[field.name])} />
    ) : (
      <TextField {...field} />
    );
  return (
    <>
      {alert && isWrong && <ErrorNotice>{shown(alert)}</ErrorNotice>}
      <form method="get" action={path} class="filters">
        <FormFields values={values} errors={errors}>
          {first.map(fieldOf)}
          {more.length > 0 && (
            <details class="more-filters" open={more.some(({ name }) => values[name] || errors[name])}>
              <summary>More filters</summary>
              <div class="filters">{more.map(fieldOf)}</div>
            </details>
          )}
        </FormFields>
        {Object.entries(hidden).map(([name, value]) => (
          <input type="hidden" name={name} value={value} />
        ))}
        <div class="buttons">
          <button type="submit" class="quiet">
            {submit ?? t('Filter')}
          </button>
          {path && (isWrong || Object.values(values).some(Boolean)) && <a href={path}>{t('Show all')}</a>}
        </div>
      </form>
    </>
  );
}

/** What the address asks for stays chosen, even if it is not among the options. */
const withChosen = (options: Option[], value: unknown): Option[] =>
  typeof value !== 'string' || options.some((option) => option.value === value)
    ? options
    : [...options, { value, label: value }];

/** The filter of a list, folded up on a phone, with what it shows now in words. */
export function ListFilter(props: FilterFormProps & { path: string }): VNode {
  const { values, errors = {}, fields, path } = props;
  const set = fields.filter(({ name }) => values[name]);
  return (
    <details class="filter" open={Object.keys(errors).length > 0}>
      <summary>
        Filter
        {set.map((field) => (
          <span class="filter-word">
            {field.label}: <bdi>{wordOf(field, String(values[field.name]))}</bdi>
          </span>
        ))}
      </summary>
      <FilterForm {...props} path={path} />
    </details>
  );
}

function wordOf(field: FilterField, value: string): string {
  const options = 'options' in field ? field.options : (field.offers ?? []);
  return options.find((option) => option.value === value)?.label ?? value;
}
