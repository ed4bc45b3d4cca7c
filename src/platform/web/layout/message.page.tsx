import type { VNode } from 'preact';
import type { Said } from '#platform/language/text.js';
import { LinkButton } from '../forms/form.js';
import type { LayoutProps } from './layout.js';
import { Say, useShown } from './say.js';

export interface MessagePageProps {
  title: string | Said;
  heading: string | Said;
  /** One paragraph, or several. */
  text: string | Said | (string | Said)[];
  action?: { href: string; label: string | Said };
  /** With it, support can find the request in the logs. */
  requestId?: string;
  /** The text of the page footer; by default the one for drivers. */
  footer?: string;
  /** All that it says is messages that are translated. */
  isTranslated?: boolean;
}

/** A page that only shows a message: errors, and notices without a form. */
export const messagePage = ({ title, footer, isTranslated, ...message }: MessagePageProps): LayoutProps => ({
  title,
  footer,
  isTranslated,
  children: <Message {...message} />,
});

function Message({
  heading,
  text,
  action,
  requestId,
}: Pick<MessagePageProps, 'heading' | 'text' | 'action' | 'requestId'>): VNode {
  const shown = useShown();
  return (
    <>
      <h1>{shown(heading)}</h1>
      {[text].flat().map((paragraph) => (
        <p>{shown(paragraph)}</p>
      ))}
      {action && (
        <p class="actions">
          <LinkButton href={action.href}>{shown(action.label)}</LinkButton>
        </p>
      )}
      {requestId && (
        <p class="fine-print">
          <Say
            it="If you ask for help, include the request ID <code>{id}</code>"
            with={{ id: requestId, code: (children) => <code>{children}</code> }}
          />
        </p>
      )}
    </>
  );
}
