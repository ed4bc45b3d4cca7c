import type { VNode } from 'preact';
import { say } from '#platform/language/text.js';
import { SECURITY_PATH } from '#access/users/factors/factor-paths.js';
import type { SecondFactorState } from '#access/users/factors/second-factor.service.js';
import { LinkButton, PageForm } from '#platform/web/forms/form.js';
import { Say, useText } from '#platform/web/layout/say.js';
import { OneTimeValue } from '#platform/web/layout/one-time-value.js';
import type { AccountPage } from './account-layout.js';
import { strong } from './message-parts.js';

export const RECOVERY_CODES_PATH = `${SECURITY_PATH}/recovery-codes`;

export interface RecoveryCodesPageProps {
  /** New codes, shown once. */
  codes: string[] | undefined;
  state: SecondFactorState;
}

/** New recovery codes; opened again, how many are left, and the button for new ones. */
export const recoveryCodesPage = ({ codes, state }: RecoveryCodesPageProps): AccountPage => ({
  title: say('Recovery codes'),
  part: 'security',
  scripts: ['/assets/page.js'],
  showsOnce: codes !== undefined,
  children: codes ? (
    <NewCodes codes={codes} />
  ) : state.authenticatorApp ? (
    <CodesLeft count={state.recoveryCodesLeft} />
  ) : (
    <NoCodes />
  ),
});

function NewCodes({ codes }: { codes: string[] }): VNode {
  const t = useText();
  return (
    <OneTimeValue
      note={t(
        'Keep these codes now, for example in your password manager or on paper: they are shown only once. Each logs you in once, after your password, if you cannot use your app.',
      )}
      next={SECURITY_PATH}
    >
      {/* Our script adds buttons to copy and to download them. */}
      <ul
        class="recovery-codes"
        aria-label={t('Recovery codes')}
        data-copy={t('Copy all')}
        data-download="recovery-codes.txt"
      >
        {codes.map((code) => (
          <li>
            <code>{code}</code>
          </li>
        ))}
      </ul>
    </OneTimeValue>
  );
}

function CodesLeft({ count }: { count: number }): VNode {
  const t = useText();
  return (
    <>
      <p>
        <Say
          it="You have <strong>{count, plural, one {one code} other {# codes}}</strong> left. They were shown when they were made, and cannot be shown again. New codes replace those that you have."
          with={{ count, strong }}
        />
      </p>
      <PageForm
        action={RECOVERY_CODES_PATH}
        sentOnce
        submit={t('Make new recovery codes')}
        cancel={SECURITY_PATH}
      />
    </>
  );
}

function NoCodes(): VNode {
  const t = useText();
  return (
    <>
      <p>
        {t(
          'Recovery codes are for when you cannot use your authenticator app. You get them when you set one up.',
        )}
      </p>
      <p class="buttons">
        <LinkButton href={SECURITY_PATH}>{t('Back to security')}</LinkButton>
      </p>
    </>
  );
}
