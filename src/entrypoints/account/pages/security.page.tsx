import type { VNode } from 'preact';
import { say } from '#platform/language/text.js';
import type { PasskeyEntity } from '#access/users/factors/passkey.entity.js';
import { SECURITY_PATH } from '#access/users/factors/factor-paths.js';
import type { SecondFactorState } from '#access/users/factors/second-factor.service.js';
import { LinkButton } from '#platform/web/forms/form.js';
import { Say, useText } from '#platform/web/layout/say.js';
import { Facts } from '#platform/web/tables/facts.js';
import { Moment } from '#platform/web/tables/moment.js';
import { RowLinks, type AccountPage } from './account-layout.js';
import { hidden, strong } from './message-parts.js';
import { RECOVERY_CODES_PATH } from './recovery-codes.page.js';

export interface SecurityPageProps {
  state: SecondFactorState;
  passkeys: PasskeyEntity[];
  /** Whether the user must have a factor. */
  isRequired: boolean;
  isOperator: boolean;
  withPassword: boolean;
}

/** How the user logs in besides the password: passkeys, an authenticator app, recovery codes. */
export const securityPage = (props: SecurityPageProps): AccountPage => ({
  title: say('Security'),
  part: 'security',
  children: <Security {...props} />,
});

function Security({ state, passkeys, isRequired, isOperator, withPassword }: SecurityPageProps): VNode {
  const t = useText();
  const hasFactor = state.authenticatorApp || passkeys.length > 0;
  return (
    <>
      {isRequired && !hasFactor && (
        <p class="notice" role="status">
          {t(
            'Operators need a second factor. Add a passkey or set up an authenticator app: then you can open the console.',
          )}
        </p>
      )}
      {isRequired && hasFactor && isOperator && (
        <p>
          <a href="/admin/console">{t('Open the console')}</a>
        </p>
      )}
      <RowLinks
        links={[
          ...(withPassword
            ? [{ href: '/account/password', label: t('Password'), about: t('Change your password') }]
            : []),
          { href: '/account/sessions', label: t('Sessions'), about: t('Where you are logged in') },
        ]}
      />
      <h2>{t('Passkeys')}</h2>
      <p>
        {t(
          'With a passkey you log in without a password: with your fingerprint, your face, the PIN of your device, or a security key.',
        )}
      </p>
      {passkeys.length > 0 && (
        <ul class="entries" role="list">
          {passkeys.map((passkey) => (
            <Passkey passkey={passkey} />
          ))}
        </ul>
      )}
      <p class="buttons">
        <LinkButton href={`${SECURITY_PATH}/passkeys/new`}>{t('Add a passkey')}</LinkButton>
      </p>
      <h2>{t('Authenticator app')}</h2>
      {state.authenticatorApp ? (
        <>
          <p>{t('An app is set up. You are asked for its code after your password.')}</p>
          <p class="buttons">
            <LinkButton look="quiet" href={`${SECURITY_PATH}/app/new`}>
              {t('Replace the app')}
            </LinkButton>
            <LinkButton look="quiet" href={`${SECURITY_PATH}/app/remove`}>
              {t('Remove the app')}
            </LinkButton>
          </p>
        </>
      ) : (
        <>
          <p>
            {t(
              'An app on your phone shows a new code every 30 seconds. You are asked for it after your password.',
            )}
          </p>
          <p class="buttons">
            <LinkButton look="quiet" href={`${SECURITY_PATH}/app/new`}>
              {t('Set up an authenticator app')}
            </LinkButton>
          </p>
        </>
      )}
      {state.authenticatorApp && (
        <>
          <h2>{t('Recovery codes')}</h2>
          <p>
            <Say
              it="Each works once in place of the app’s code. You have <strong>{count, plural, one {one code} other {# codes}}</strong> left."
              with={{ count: state.recoveryCodesLeft, strong }}
            />
          </p>
          <p class="buttons">
            <LinkButton look="quiet" href={RECOVERY_CODES_PATH}>
              {t('Recovery codes')}
            </LinkButton>
          </p>
        </>
      )}
    </>
  );
}

function Passkey({ passkey }: { passkey: PasskeyEntity }): VNode {
  const t = useText();
  const { name } = passkey;
  return (
    <li>
      <h3>
        <bdi>{name}</bdi>
      </h3>
      <Facts
        facts={[
          [t('Added'), <Moment at={passkey.createdAt} />],
          [t('Last used'), passkey.lastUsedAt ? <Moment at={passkey.lastUsedAt} /> : t('Not yet')],
          [t('Copies'), passkey.backedUp ? t('Your other devices may have it too') : t('On one device only')],
        ]}
      />
      <p class="entry-actions">
        <LinkButton look="quiet" href={`${SECURITY_PATH}/passkeys/${passkey.id}`}>
          <Say it="Rename<hidden> {name}</hidden>" with={{ name, hidden }} />
        </LinkButton>
        <LinkButton look="quiet" href={`${SECURITY_PATH}/passkeys/${passkey.id}/remove`}>
          <Say it="Remove<hidden> {name}</hidden>" with={{ name, hidden }} />
        </LinkButton>
      </p>
    </li>
  );
}
