import type { VNode } from 'preact';
import { say } from '#platform/language/text.js';
import { TextField } from '#platform/web/forms/field.js';
import { PageForm } from '#platform/web/forms/form.js';
import { PASSKEY_SCRIPT, PasskeyButton } from '#platform/web/forms/passkey-button.js';
import { Say, useText } from '#platform/web/layout/say.js';
import { CONFIRM_PATH, SECURITY_PATH } from '#access/users/factors/factor-paths.js';
import type { AccountPage } from './account-layout.js';

export interface ConfirmPageProps {
  returnTo: string;
  hasPasskeys: boolean;
  /** Where the user authenticates instead of entering the password: at the provider with this label, if there is one. */
  place: { label: string | undefined } | undefined;
  error?: string;
}

/** What it is for, by the path that follows: what is about to be done, and the way back. */
const REASONS: [path: RegExp, reason: string, back: string][] = [
  [/^\/account\/export/, say('You are about to take your data along.'), '/account'],
  [/^\/account\/delete/, say('You are about to delete your account.'), '/account'],
  [/^\/admin\/console/, say('You are about to open the console.'), '/account'],
  [/^\/portal/, say('You are about to change something in the webhook portal.'), '/portal'],
  [/^/, say('You are about to change how your account is protected.'), SECURITY_PATH],
];

/** Asks to log in again: with the password, a passkey, or at the provider. It posts `password` and `return_to`. */
export const confirmPage = (props: ConfirmPageProps): AccountPage => ({
  title: say('Confirm that it is you'),
  part: 'security',
  scripts: props.hasPasskeys ? [PASSKEY_SCRIPT] : [],
  children: <Confirm {...props} />,
});

function Confirm({ returnTo, hasPasskeys, place, error }: ConfirmPageProps): VNode {
  const t = useText();
  const hasForm = !place || Boolean(place.label);
  const [, reason, back] = REASONS.find(([path]) => path.test(returnTo))!;
  return (
    <>
      <p>
        {t(reason)} <HowTo place={place} /> {t('Nothing is changed yet.')}
      </p>
      {hasPasskeys && (
        <PasskeyButton returnTo={returnTo} isQuiet={hasForm}>
          {t('Use a passkey')}
        </PasskeyButton>
      )}
      {hasForm && (
        <PageForm
          action={CONFIRM_PATH}
          class="narrow-form"
          hidden={{ return_to: returnTo }}
          errors={error === undefined ? undefined : { [place ? 'form' : 'password']: error }}
          alert={t('Nothing was changed. See the error below.')}
          submit={place?.label ? t('Continue with {provider}', { provider: place.label }) : t('Continue')}
          cancel={back}
        >
          {!place && (
            <TextField
              name="password"
              label={t('Password')}
              type="password"
              autocomplete="current-password"
              hint={t('If you have none, log out and log in again.')}
              required
            />
          )}
        </PageForm>
      )}
    </>
  );
}

function HowTo({ place }: Pick<ConfirmPageProps, 'place'>): VNode {
  const t = useText();
  if (!place) return <>{t('Enter your password again to continue.')}</>;
  if (!place.label) return <>{t('Use a passkey if you have one here, or log out and log in again.')}</>;
  return <Say it="Log in at {provider} again to continue." with={{ provider: <bdi>{place.label}</bdi> }} />;
}
