import type { VNode } from 'preact';
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
export const unsubscribePage = ({ action, kind, email }: UnsubscribePageProps): LayoutProps =>
  askToStop(
    action,
    email,
    <p>
      We send you mail {ABOUT[kind]}. Your account shows the same, whether you get mail about it or not. You
      can switch it on again there.
    </p>,
  );

/** Asks whether to remove the address from the contacts of a client. */
export const removeContactPage = ({
  action,
  clientName,
  email,
}: {
  action: string;
  clientName: string;
  email: string;
}): LayoutProps =>
  askToStop(
    action,
    email,
    <p>
      This address is a contact of <bdi class="name">{clientName}</bdi>. We send it mail when a webhook
      endpoint is failing or was disabled, and when consents of its users will soon end. If you stop these
      mails, the address is removed from the contacts. It can be added again in the webhook portal.
    </p>,
  );

const askToStop = (action: string, email: string, what: VNode): LayoutProps => ({
  title: 'Stop these mails',
  children: (
    <>
      <h1>Stop these mails?</h1>
      <p class="lead">
        <bdi class="name">{email}</bdi>
      </p>
      {what}
      <PostForm action={action}>
        <div class="actions">
          <button type="submit">Stop these mails</button>
        </div>
      </PostForm>
    </>
  ),
});

export const contactRemovedPage = (): LayoutProps =>
  messagePage({
    title: 'Mails stopped',
    heading: 'You get no more mails as a contact',
    text: 'Your address is no longer among the contacts. It can be added again in the webhook portal.',
  });

export const unsubscribedPage = (): LayoutProps =>
  messagePage({
    title: 'Mails stopped',
    heading: 'You get no more mails of this kind',
    text: 'Your account shows what they would have said. You can switch them on again there.',
    action: { href: '/account/email', label: 'Choose your mails' },
  });
