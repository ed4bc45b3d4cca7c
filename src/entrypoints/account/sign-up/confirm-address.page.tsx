import type { VNode } from 'preact';
import { say } from '#platform/language/text.js';
import { PostForm } from '#platform/web/forms/form.js';
import type { LayoutProps } from '#platform/web/layout/layout.js';
import { useText } from '#platform/web/layout/say.js';

export interface ConfirmAddressPageProps {
  /** Path to post to. */
  action: string;
  email: string;
}

/** Asks whether the address is that of the person who opened the link. */
export const confirmAddressPage = (props: ConfirmAddressPageProps): LayoutProps => ({
  title: say('Confirm your address'),
  isTranslated: true,
  children: <ConfirmAddress {...props} />,
});

function ConfirmAddress({ action, email }: ConfirmAddressPageProps): VNode {
  const t = useText();
  return (
    <>
      <h1>{t('Is this your email address?')}</h1>
      <p class="lead">
        <bdi class="name">{email}</bdi>
      </p>
      <p>{t('Confirm it, and we’ll send account emails here from now on.')}</p>
      <PostForm action={action}>
        <div class="actions">
          <button type="submit">{t('Confirm address')}</button>
        </div>
      </PostForm>
    </>
  );
}
