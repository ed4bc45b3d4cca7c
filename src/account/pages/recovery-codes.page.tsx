import { SECURITY_PATH } from '../../users/factors/factor-paths.js';
import type { SecondFactorState } from '../../users/factors/second-factor.service.js';
import { LinkButton, PageForm } from '../../web/forms/form.js';
import { ShownOnce } from '../../web/layout/shown-once.js';
import type { AccountPage } from './account-layout.js';

export const RECOVERY_CODES_PATH = `${SECURITY_PATH}/recovery-codes`;

export interface RecoveryCodesPageProps {
  /** New codes, shown once. */
  codes: string[] | undefined;
  state: SecondFactorState;
}

/** New recovery codes; opened again, how many are left, and the button for new ones. */
export const recoveryCodesPage = ({ codes, state }: RecoveryCodesPageProps): AccountPage => ({
  title: 'Recovery codes',
  part: 'security',
  scripts: codes ? ['/assets/page.js'] : [],
  children: codes ? (
    <ShownOnce
      note="Keep these codes now, for example in your password manager or on paper: they are shown only once. Each logs you in once, after your password, if you cannot use your app."
      next={SECURITY_PATH}
    >
      {/* Our script adds buttons to copy and to download them. */}
      <ul
        class="recovery-codes"
        aria-label="Recovery codes"
        data-copy="Copy all"
        data-download="recovery-codes.txt"
      >
        {codes.map((code) => (
          <li>
            <code>{code}</code>
          </li>
        ))}
      </ul>
    </ShownOnce>
  ) : state.authenticatorApp ? (
    <>
      <p>
        You have{' '}
        <strong>{state.recoveryCodesLeft === 1 ? 'one code' : `${state.recoveryCodesLeft} codes`}</strong>{' '}
        left. They were shown when they were made, and cannot be shown again. New codes replace those that you
        have.
      </p>
      <PageForm
        action={RECOVERY_CODES_PATH}
        sentOnce
        submit="Make new recovery codes"
        cancel={SECURITY_PATH}
      />
    </>
  ) : (
    <>
      <p>
        Recovery codes are for when you cannot use your authenticator app. You get them when you set one up.
      </p>
      <p class="buttons">
        <LinkButton href={SECURITY_PATH}>Back to security</LinkButton>
      </p>
    </>
  ),
});
