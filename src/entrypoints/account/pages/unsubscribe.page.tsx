import type { VNode } from 'preact';
import type { OptionalMailKind } from '#records/mail/mail.entity.js';
import { say } from '#platform/language/text.js';
import { PostForm } from '#platform/web/forms/form.js';
import { messagePage } from '#platform/web/layout/message.page.js';
import type { LayoutProps } from '#platform/web/layout/layout.js';
import { Say, useText } from '#platform/web/layout/say.js';

const ABOUT: Record<OptionalMailKind, string> = {
  application_connected: say(
    'We send you mail when an application was connected to your account. Your account shows the same, whether you get mail about it or not. You can switch it on again there.',
  ),
  actionable: say(
    'We send you mail when something needs your attention. Your account shows the same, whether you get mail about it or not. You can switch it on again there.',
  ),
};

export interface UnsubscribePageProps {
  /** Path to post to. */
  action: string;
  kind: OptionalMailKind;
  email: string;
}

/** Asks whether to send no more mails of this kind. */
export const unsubscribePage = ({ action, kind, email }: UnsubscribePageProps): LayoutProps =>
  askToStop(action, email, <Say it={ABOUT[kind]} />);

/** Asks whether to stop the mails that `what` tells about. */
export const askToStop = (action: string, email: string, what: VNode): LayoutProps => ({
  title: say('Stop these mails'),
  isTranslated: true,
  children: (
    <AskToStop action={action} email={email}>
      {what}
    </AskToStop>
  ),
});

function AskToStop(props: { action: string; email: string; children: VNode }): VNode {
  const t = useText();
  return (
    <>
      <h1>{t('Stop these mails?')}</h1>
      <p class="lead">
        <bdi class="name">{props.email}</bdi>
      </p>
      <p>{props.children}</p>
      <PostForm action={props.action}>
        <div class="actions">
          <button type="submit">{t('Stop these mails')}</button>
        </div>
      </PostForm>
    </>
  );
}

export const unsubscribedPage = (): LayoutProps =>
  messagePage({
    title: say('Mails stopped'),
    heading: say('You get no more mails of this kind'),
    text: say('Your account shows what they would have said. You can switch them on again there.'),
    action: { href: '/account/email', label: say('Choose your mails') },
    isTranslated: true,
  });
