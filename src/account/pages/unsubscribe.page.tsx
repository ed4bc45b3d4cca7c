import type { OptionalMailKind } from '../../mail/mail.entity.js';
import { PostForm } from '../../web/forms/form.js';
import { messagePage } from '../../web/layout/message.page.js';
import type { LayoutProps } from '../../web/layout/layout.js';

const ABOUT: Record<OptionalMailKind, string> = {
  application_connected: 'when an application was connected to your account',
  actionable: 'when something needs your attention',
};

export interface UnsubscribePageProps {
  /** Path to post to. */
  action: string;
  kind: OptionalMailKind;
  email: string;
}

/** Asks whether to send no more mails of this kind. */
export const unsubscribePage = ({ action, kind, email }: UnsubscribePageProps): LayoutProps => ({
  title: 'Stop these mails',
  children: (
    <>
      <h1>Stop these mails?</h1>
      <p class="lead">
        <bdi class="name">{email}</bdi>
      </p>
      <p>
        We send you mail {ABOUT[kind]}. Your account shows the same, whether you get mail about it or not. You
        can switch it on again there.
      </p>
      <PostForm action={action}>
        <div class="actions">
          <button type="submit">Stop these mails</button>
        </div>
      </PostForm>
    </>
  ),
});

export const unsubscribedPage = (): LayoutProps =>
  messagePage({
    title: 'Mails stopped',
    heading: 'You get no more mails of this kind',
    text: 'Your account shows what they would have said. You can switch them on again there.',
    action: { href: '/account/email', label: 'Choose your mails' },
  });
