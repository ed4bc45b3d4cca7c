import type { VNode } from 'preact';
import { withReturnTo } from '#platform/http/forms/return-to.js';
import { say } from '#platform/language/text.js';
import { SECOND_FACTOR_PATH } from '#access/users/factors/factor-paths.js';
import { PageForm } from '#platform/web/forms/form.js';
import { TextField } from '#platform/web/forms/field.js';
import { PASSKEY_SCRIPT, PasskeyButton, WithoutPasskeys } from '#platform/web/forms/passkey-button.js';
import type { LayoutProps } from '#platform/web/layout/layout.js';
import { useText } from '#platform/web/layout/say.js';
import { messagePage } from '#platform/web/layout/message.page.js';

export interface SecondFactorPageProps {
  /** Where to go after login; posted back unchanged. */
  returnTo?: string;
  hasPasskeys: boolean;
  hasApp: boolean;
  error?: string;
}

/** Asks for a second factor. It posts `code` and `return_to`. */
export const secondFactorPage = (props: SecondFactorPageProps): LayoutProps => ({
  title: say('Second factor'),
  scripts: props.hasPasskeys ? [PASSKEY_SCRIPT] : [],
  isTranslated: true,
  children: <SecondFactor {...props} />,
});

function SecondFactor({ returnTo, hasPasskeys, hasApp, error }: SecondFactorPageProps): VNode {
  const t = useText();
  return (
    <>
      <h1>{t('One more step')}</h1>
      {hasPasskeys && (
        <>
          <p>{hasApp ? t('Use your passkey, or enter a code below.') : t('Use your passkey.')}</p>
          <PasskeyButton returnTo={returnTo} isQuiet={hasApp}>
            {t('Use a passkey')}
          </PasskeyButton>
          <WithoutPasskeys>
            {hasApp ? t('Use a code instead.') : t('Ask an admin to reset your second factor.')}
          </WithoutPasskeys>
        </>
      )}
      {hasApp ? (
        <PageForm
          action={SECOND_FACTOR_PATH}
          hidden={{ return_to: returnTo }}
          errors={error === undefined ? undefined : { code: error }}
          alert={say('You are not logged in yet.')}
          submit={t('Continue')}
          cancel={withReturnTo('/login', returnTo)}
        >
          <TextField
            name="code"
            label={t('Code')}
            autocomplete="one-time-code"
            spellcheck={false}
            hint={t('The six digits that your authenticator app shows now, or one of your recovery codes.')}
            required
          />
        </PageForm>
      ) : (
        <p>
          <a href={withReturnTo('/login', returnTo)}>{t('Back to the login')}</a>
        </p>
      )}
    </>
  );
}

/** Shown instead if the password was not given in this browser within ten minutes. */
export const signInExpiredPage = (returnTo: string | undefined): LayoutProps =>
  messagePage({
    title: say('Log in again'),
    heading: say('Please log in again'),
    text: say(
      'The second step of a login has to follow the password within ten minutes, in the same browser, and works once.',
    ),
    action: { href: withReturnTo('/login', returnTo), label: say('Log in') },
    isTranslated: true,
  });
