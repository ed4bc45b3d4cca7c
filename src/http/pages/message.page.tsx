import { Layout, renderPage } from './layout.js';

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
export function messagePage({ title, heading, text, action, requestId, footer }: MessagePageProps): string {
  return renderPage(
    <Layout title={title} footer={footer}>
      <h1>{heading}</h1>
      {[text].flat().map((paragraph) => (
        <p>{paragraph}</p>
      ))}
      {action && (
        <p class="actions">
          <a class="button-link" href={action.href}>
            {action.label}
          </a>
        </p>
      )}
      {requestId && (
        <p class="fine-print">
          If you ask for help, include the request ID <code>{requestId}</code>
        </p>
      )}
    </Layout>,
  );
}
