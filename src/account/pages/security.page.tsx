import type { VNode } from 'preact';
import type { PasskeyEntity } from '../../users/factors/passkey.entity.js';
import { SECURITY_PATH } from '../../users/factors/factor-paths.js';
import type { SecondFactorState } from '../../users/factors/second-factor.service.js';
import { LinkButton } from '../../web/forms/form.js';
import { Facts } from '../../web/tables/facts.js';
import { Moment } from '../../web/tables/moment.js';
import type { AccountPage } from './account-layout.js';
import { RECOVERY_CODES_PATH } from './recovery-codes.page.js';

export interface SecurityPageProps {
  state: SecondFactorState;
  passkeys: PasskeyEntity[];
  /** Whether the user must have a factor. */
  isRequired: boolean;
  isOperator: boolean;
}

/** How the user logs in besides the password: passkeys, an authenticator app, recovery codes. */
export function securityPage({ state, passkeys, isRequired, isOperator }: SecurityPageProps): AccountPage {
  const hasFactor = state.authenticatorApp || passkeys.length > 0;
  return {
    title: 'Security',
    part: 'security',
    children: (
      <>
        {isRequired && !hasFactor && (
          <p class="notice" role="status">
            Operators need a second factor. Add a passkey or set up an authenticator app: then you can open
            the console.
          </p>
        )}
        {isRequired && hasFactor && isOperator && (
          <p>
            <a href="/admin/console">Open the console</a>
          </p>
        )}
        <h2>Passkeys</h2>
        <p>
          With a passkey you log in without a password: with your fingerprint, your face, the PIN of your
          device, or a security key.
        </p>
        {passkeys.length > 0 && (
          <ul class="entries" role="list">
            {passkeys.map((passkey) => (
              <Passkey passkey={passkey} />
            ))}
          </ul>
        )}
        <p class="buttons">
          <LinkButton href={`${SECURITY_PATH}/passkeys/new`}>Add a passkey</LinkButton>
        </p>
        <h2>Authenticator app</h2>
        {state.authenticatorApp ? (
          <>
            <p>An app is set up. Its code is asked for after your password.</p>
            <p class="buttons">
              <LinkButton look="quiet" href={`${SECURITY_PATH}/app/new`}>
                Replace the app
              </LinkButton>
              <LinkButton look="quiet" href={`${SECURITY_PATH}/app/remove`}>
                Remove the app
              </LinkButton>
            </p>
          </>
        ) : (
          <>
            <p>
              An app on your phone shows a new code every 30 seconds, which is asked for after your password.
            </p>
            <p class="buttons">
              <LinkButton href={`${SECURITY_PATH}/app/new`}>Set up an authenticator app</LinkButton>
            </p>
          </>
        )}
        {state.authenticatorApp && (
          <>
            <h2>Recovery codes</h2>
            <p>
              Each works once in place of the app’s code. You have{' '}
              <strong>
                {state.recoveryCodesLeft === 1 ? 'one code' : `${state.recoveryCodesLeft} codes`}
              </strong>{' '}
              left.
            </p>
            <p class="buttons">
              <LinkButton look="quiet" href={RECOVERY_CODES_PATH}>
                Recovery codes
              </LinkButton>
            </p>
          </>
        )}
      </>
    ),
  };
}

function Passkey({ passkey }: { passkey: PasskeyEntity }): VNode {
  return (
    <li>
      <h3>
        <bdi>{passkey.name}</bdi>
      </h3>
      <Facts
        facts={[
          ['Added', <Moment at={passkey.createdAt} />],
          ['Last used', passkey.lastUsedAt ? <Moment at={passkey.lastUsedAt} /> : 'Not yet'],
          ['Copies', passkey.backedUp ? 'Your other devices may have it too' : 'On one device only'],
        ]}
      />
      <p class="entry-actions">
        <LinkButton look="quiet" href={`${SECURITY_PATH}/passkeys/${passkey.id}`}>
          Rename<span class="visually-hidden"> {passkey.name}</span>
        </LinkButton>
        <LinkButton look="quiet" href={`${SECURITY_PATH}/passkeys/${passkey.id}/remove`}>
          Remove<span class="visually-hidden"> {passkey.name}</span>
        </LinkButton>
      </p>
    </li>
  );
}
