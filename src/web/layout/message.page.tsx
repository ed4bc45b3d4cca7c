import { LinkButton } from '../forms/form.js';
import type { LayoutProps } from './layout.js';

export interface MessagePageProps {
  title: string;
  heading: string;
  /** One paragraph, or several. */
  text: string | string[];
  action?: { href: string; label: string };
  /** With it, support can find the request in the logs. */
  requestId?: string;
  /** The text of the page footer; by default the one for drivers. */
  footer?: string;
}

/** A page that only shows a message: errors, and notices without a form. */
export const messagePage = (props: MessagePageProps): LayoutProps => ({
  title: props.title,
  footer: props.footer,
  children: (
    <>
      <h1>{props.heading}</h1>
      {[props.text].flat().map((paragraph) => (
        <p>{paragraph}</p>
      ))}
      {props.action && (
        <p class="actions">
          <LinkButton href={props.action.href}>{props.action.label}</LinkButton>
        </p>
      )}
      {props.requestId && (
        <p class="fine-print">
          If you ask for help, include the request ID <code>{props.requestId}</code>
        </p>
      )}
    </>
  ),
});
