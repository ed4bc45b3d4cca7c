import type { VNode } from 'preact';
import type { Form } from '#platform/http/forms/form.js';
import { TextField, type FieldErrors } from '#platform/web/forms/field.js';
import type { ClientCredentials, GivenCredentials } from './client-credentials.js';

const [TOKEN_URL, CLIENT_ID] = ['authentication.token_url', 'authentication.client_id'] as const;
const [CLIENT_SECRET, SCOPE] = ['authentication.client_secret', 'authentication.scope'] as const;
const SHOWN = 'shown_authentication';

/** The fields of a form, by name: those of the members, so that errors are beside them. The secret is never shown. */
export type CredentialValues = Record<
  typeof TOKEN_URL | typeof CLIENT_ID | typeof CLIENT_SECRET | typeof SCOPE,
  string
>;

export const credentialValues = (shown: ClientCredentials | null): CredentialValues => ({
  [TOKEN_URL]: shown?.token_url ?? '',
  [CLIENT_ID]: shown?.client_id ?? '',
  [CLIENT_SECRET]: '',
  [SCOPE]: shown?.scope ?? '',
});

export const credentialValuesIn = (form: Form): CredentialValues => {
  const typed = (name: string) => (form.get(name) ?? '').trim();
  return {
    [TOKEN_URL]: typed(TOKEN_URL),
    [CLIENT_ID]: typed(CLIENT_ID),
    [CLIENT_SECRET]: typed(CLIENT_SECRET),
    [SCOPE]: typed(SCOPE),
  };
};

/** The form of an endpoint has other fields too. */
const typedOf = (values: CredentialValues): string[] =>
  [TOKEN_URL, CLIENT_ID, CLIENT_SECRET, SCOPE].map((name) => values[name]);

/** The member `authentication` of a body, before its rules are checked: all fields empty are none. */
export function credentialsIn(values: CredentialValues): GivenCredentials | null {
  if (typedOf(values).every((value) => value === '')) return null;
  return {
    type: 'client_credentials',
    token_url: values[TOKEN_URL],
    client_id: values[CLIENT_ID],
    ...(values[CLIENT_SECRET] === '' ? {} : { client_secret: values[CLIENT_SECRET] }),
    ...(values[SCOPE] === '' ? {} : { scope: values[SCOPE] }),
  };
}

/** The hidden field of a form that shows these values. */
export const credentialsShown = (values: CredentialValues): Record<string, string> => ({
  [SHOWN]: JSON.stringify(typedOf(values)),
});

/** The present values, unless the form has others than it showed. */
export const credentialValuesChangedIn = (form: Form, present: CredentialValues): CredentialValues => {
  const typed = credentialValuesIn(form);
  return credentialsShown(typed)[SHOWN] === form.get(SHOWN) ? present : typed;
};

const LABELS: Record<string, string> = {
  [TOKEN_URL]: 'Token endpoint',
  [CLIENT_ID]: 'Client ID',
  [CLIENT_SECRET]: 'Client secret',
  [SCOPE]: 'Scope',
};

/** The name of a field in an error text; undefined for a field of something else. */
export const credentialLabel = (name: string): string | undefined => LABELS[name];

const hasCredentials = (values: CredentialValues, errors: FieldErrors = {}): boolean =>
  credentialsIn(values) !== null || Object.keys(errors).some((name) => Object.hasOwn(LABELS, name));

interface CredentialFieldsProps {
  values: CredentialValues;
  errors?: FieldErrors;
  /** Whether there is a secret that is kept. */
  hasSecret: boolean;
}

/** The fields for a receiver behind OAuth, folded away where there is nothing in them. */
export const CredentialFields = ({ values, errors, hasSecret }: CredentialFieldsProps): VNode => (
  <details open={hasCredentials(values, errors)}>
    <summary>OAuth</summary>
    <p class="hint">
      If your receiver is behind OAuth, we get a token from your authorization server (grant type client
      credentials), and send it with every request, in place of a header “authorization”. Leave all of these
      empty if it is not.
    </p>
    <TextField
      name={TOKEN_URL}
      id="token-url"
      type="url"
      label={LABELS[TOKEN_URL]!}
      spellcheck={false}
      hint="A public https address of your authorization server."
    />
    <TextField name={CLIENT_ID} id="client-id" label={LABELS[CLIENT_ID]!} spellcheck={false} />
    <TextField
      name={CLIENT_SECRET}
      id="client-secret"
      type="password"
      autocomplete="new-password"
      label={LABELS[CLIENT_SECRET]!}
      hint={
        hasSecret
          ? 'Leave it empty to keep the present one. Another token endpoint or client ID needs its secret again.'
          : 'It is kept sealed, and never shown again.'
      }
    />
    <TextField
      name={SCOPE}
      id="token-scope"
      label={LABELS[SCOPE]!}
      spellcheck={false}
      hint="Names with a space between them, if your authorization server needs any."
    />
  </details>
);

/** Where the token of an endpoint's requests comes from. */
export const CredentialsInWords = ({ shown }: { shown: ClientCredentials }): VNode => (
  <>
    A token from <bdi>{shown.token_url}</bdi> for the client <bdi>{shown.client_id}</bdi>
    {shown.scope !== null && (
      <>
        {' '}
        with the scope <bdi>{shown.scope}</bdi>
      </>
    )}
    . The secret is kept, and not shown.
  </>
);
