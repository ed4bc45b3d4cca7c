import { withReturnTo } from '../http/forms/return-to.js';
import { SECOND_FACTOR_PATH } from '../users/factors/factor-paths.js';
import { PageForm } from '../web/forms/form.js';
import { TextField } from '../web/forms/field.js';
import { PASSKEY_SCRIPT, PasskeyButton, WithoutPasskeys } from '../web/forms/passkey-button.js';
import type { LayoutProps } from '../web/layout/layout.js';
import { messagePage } from '../web/layout/message.page.js';

export interface SecondFactorPageProps {
  /** Where to go after login; posted back unchanged. */
  returnTo?: string;
  hasPasskeys: boolean;
  hasApp: boolean;
  error?: string;
}

/** Asks for a second factor. It posts `code` and `return_to`. */
export function secondFactorPage({
  returnTo,
  hasPasskeys,
  hasApp,
  error,
}: SecondFactorPageProps): LayoutProps {
  return {
    title: 'Second factor',
    scripts: hasPasskeys ? [PASSKEY_SCRIPT] : [],
    children: (
      <>
        <h1>One more step</h1>
        {hasPasskeys && (
          <>
            <p>Use your passkey{hasApp ? ', or enter a code below' : ''}.</p>
            <PasskeyButton returnTo={returnTo}>Use a passkey</PasskeyButton>
            <WithoutPasskeys>
              {hasApp ? 'Use a code instead.' : 'Ask an admin to reset your second factor.'}
            </WithoutPasskeys>
          </>
        )}
        {hasApp ? (
          <PageForm
            action={SECOND_FACTOR_PATH}
            hidden={{ return_to: returnTo }}
            errors={error === undefined ? undefined : { code: error }}
            alert="You are not logged in yet."
            submit="Continue"
            cancel={withReturnTo('/login', returnTo)}
          >
            <TextField
              name="code"
              label="Code"
              autocomplete="one-time-code"
              spellcheck={false}
              hint="The six digits that your authenticator app shows now, or one of your recovery codes."
              required
            />
          </PageForm>
        ) : (
          <p>
            <a href={withReturnTo('/login', returnTo)}>Back to the login</a>
          </p>
        )}
      </>
    ),
  };
}

/** Shown instead if the password was not given in this browser within ten minutes. */
export const signInExpiredPage = (returnTo: string | undefined): LayoutProps =>
  messagePage({
    title: 'Log in again',
    heading: 'Please log in again',
    text: 'The second step of a login has to follow the password within ten minutes, in the same browser, and works once.',
    action: { href: withReturnTo('/login', returnTo), label: 'Log in' },
  });
