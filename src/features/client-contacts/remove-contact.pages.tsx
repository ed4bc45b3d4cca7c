import { askToStop } from '#entrypoints/account/pages/unsubscribe.page.js';
import { say } from '#platform/language/text.js';
import type { LayoutProps } from '#platform/web/layout/layout.js';
import { messagePage } from '#platform/web/layout/message.page.js';
import { Say } from '#platform/web/layout/say.js';

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
    <Say
      it="This address is a contact of <name>{clientName}</name>. We send it mail when a webhook endpoint is failing or was disabled, and when consents of its users will soon end. If you stop these mails, the address is removed from the contacts. It can be added again in the webhook portal."
      with={{ clientName, name: (children) => <bdi class="name">{children}</bdi> }}
    />,
  );

export const contactRemovedPage = (): LayoutProps =>
  messagePage({
    title: say('Mails stopped'),
    heading: say('You get no more mails as a contact'),
    text: say('Your address is no longer among the contacts. It can be added again in the webhook portal.'),
    isTranslated: true,
  });
