import QRCode from 'qrcode';
import type { VNode } from 'preact';
import { say } from '#platform/language/text.js';
import type { AppSetUp } from '#access/users/factors/authenticator-apps.service.js';
import { SECURITY_PATH } from '#access/users/factors/factor-paths.js';
import { Confirmation } from '#platform/web/forms/confirmation.js';
import { TextField, type FieldErrors } from '#platform/web/forms/field.js';
import { PageForm } from '#platform/web/forms/form.js';
import { useText } from '#platform/web/layout/say.js';
import type { AccountPage } from './account-layout.js';

export interface NewAppPageProps {
  setUp: AppSetUp;
  /** Whether the user has an app already. */
  replaces: boolean;
  errors?: FieldErrors;
}

/** Shows a secret as a QR code and as text, and asks for a code. It posts `set_up` and `code`. */
export const newAppPage = (props: NewAppPageProps): AccountPage => ({
  title: props.replaces ? say('Replace authenticator app') : say('Set up an authenticator app'),
  part: 'security',
  scripts: ['/assets/page.js'],
  children: <NewApp {...props} />,
});

function NewApp({ setUp, replaces, errors }: NewAppPageProps): VNode {
  const t = useText();
  return (
    <>
      <p>
        {t(
          'Scan this code with an authenticator app, or type in the key. Then enter the six digits that the app shows.',
        )}
        {replaces && ` ${t('From then on, codes of your present app no longer work.')}`}
      </p>
      <QrCode text={setUp.uri} />
      <p>
        {t('Key:')} <code class="secret">{setUp.secret.match(/.{1,4}/g)!.join(' ')}</code>
      </p>
      <PageForm
        action={`${SECURITY_PATH}/app/new`}
        class="narrow-form"
        hidden={{ set_up: setUp.sealed }}
        sentOnce
        errors={errors}
        alert={t('The app is not set up yet. See the error below.')}
        submit={t('Continue')}
        cancel={SECURITY_PATH}
      >
        <TextField
          name="code"
          label={t('Code')}
          autocomplete="one-time-code"
          inputMode="numeric"
          spellcheck={false}
          hint={t('The six digits that the app shows now.')}
          required
        />
      </PageForm>
    </>
  );
}

const QUIET_ZONE = 4;

/** A QR code as one path, dark on light even in dark mode. */
function QrCode({ text }: { text: string }): VNode {
  const t = useText();
  const { size, data } = QRCode.create(text, { errorCorrectionLevel: 'M' }).modules;
  const dark = Array.from(data.keys()).filter((at) => data[at]);
  const path = dark.map((at) => `M${at % size} ${Math.floor(at / size)}h1v1h-1z`).join('');
  const length = size + 2 * QUIET_ZONE;
  return (
    <svg
      class="qr-code"
      viewBox={`${-QUIET_ZONE} ${-QUIET_ZONE} ${length} ${length}`}
      width="220"
      height="220"
      role="img"
      aria-label={t('QR code with the key below')}
      shape-rendering="crispEdges"
    >
      <rect x={-QUIET_ZONE} y={-QUIET_ZONE} width={length} height={length} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  );
}

/** Explains the consequences before the app is removed; `isByPassword`: whether a password alone logs in without one. */
export const removeAppPage = (isByPassword: boolean): AccountPage => ({
  title: say('Remove authenticator app'),
  part: 'security',
  children: <RemoveApp isByPassword={isByPassword} />,
});

function RemoveApp({ isByPassword }: { isByPassword: boolean }): VNode {
  const t = useText();
  return (
    <Confirmation
      question={t('Remove your authenticator app?')}
      consequences={[
        ...(isByPassword ? [t('Your password alone logs you in again.')] : []),
        t('Your recovery codes are removed too.'),
        t('You stay logged in here. Delete the account in the app as well.'),
      ]}
      action={`${SECURITY_PATH}/app/remove`}
      submit={t('Remove')}
      isDanger
      cancel={SECURITY_PATH}
      keep={t('Keep it')}
    />
  );
}
