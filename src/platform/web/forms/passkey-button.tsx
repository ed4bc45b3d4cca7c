import type { ComponentChildren, VNode } from 'preact';
import { useText } from '../layout/say.js';

/** The script of pages with passkeys. */
export const PASSKEY_SCRIPT = '/assets/passkeys.js';

export interface PasskeyButtonProps {
  /** Where to go after login. */
  returnTo?: string;
  /** Beside a form, whose button is the one that is filled. */
  isQuiet?: boolean;
  children: ComponentChildren;
}

/** A button that logs in with a passkey. Without our script it is hidden, because only a script can use a passkey. */
export const PasskeyButton = ({ returnTo, isQuiet, children }: PasskeyButtonProps): VNode => (
  <div class="passkey" data-passkey-sign-in data-return-to={returnTo} hidden>
    <p class="notice notice-error" role="alert" hidden />
    <button type="button" class={isQuiet ? 'quiet' : undefined}>
      {children}
    </button>
  </div>
);

/** The same, folded up where the browser has no passkeys of its own. */
export const PasskeySection = ({ summary, ...button }: PasskeyButtonProps & { summary: string }): VNode => (
  <details class="passkey-section" data-passkey-section hidden>
    <summary>{summary}</summary>
    <PasskeyButton {...button} isQuiet />
  </details>
);

/**
 * A button that makes a passkey by the options at this path, and posts it with the form in place of a password. A browser without
 * passkeys shows a notice instead, which ends by `without`.
 */
export const PasskeyInstead = ({
  form,
  options,
  without,
}: {
  form: string;
  options: string;
  without: string;
}): VNode => (
  <>
    <WithoutPasskeys>{without}</WithoutPasskeys>
    <div class="passkey" data-passkey-sign-up={options} hidden>
      <p class="notice notice-error" role="alert" hidden />
      <button type="button" class="quiet" form={form}>
        {useText()('Use a passkey instead')}
      </button>
    </div>
  </>
);

/** Says that this browser cannot use passkeys, and what to do instead; our script hides it where the browser can. */
export const WithoutPasskeys = ({ children }: { children: ComponentChildren }): VNode => (
  <p class="notice" data-without-passkeys>
    {useText()(
      'This browser cannot use passkeys: it does not know them, or JavaScript is switched off in it.',
    )}{' '}
    {children}
  </p>
);
