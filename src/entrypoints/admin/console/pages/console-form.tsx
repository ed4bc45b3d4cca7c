import type { VNode } from 'preact';
import { TextField } from '#platform/web/forms/field.js';
import { PageForm, type PageFormProps } from '#platform/web/forms/form.js';

/** The password field in forms that ask for the password. */
export const PASSWORD_FIELD = 'confirm_password';

/** A form of the console, with the password field if the password is asked for. */
export function ConsoleForm({ children, ...form }: PageFormProps): VNode {
  const asksPassword = form.errors?.[PASSWORD_FIELD] !== undefined;
  return (
    <PageForm
      class="console-form"
      alert={
        asksPassword
          ? 'Nothing was changed yet. Enter your password again: you last entered it more than 15 minutes ago.'
          : 'Nothing was changed. See the errors below.'
      }
      {...form}
    >
      {children}
      {asksPassword && (
        <TextField
          name={PASSWORD_FIELD}
          label="Your password"
          type="password"
          autocomplete="current-password"
          required
        />
      )}
    </PageForm>
  );
}
