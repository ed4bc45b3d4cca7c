import { Layout, renderPage } from './layout.js';

export interface MessagePageProps {
  title: string;
  heading: string;
  /** One paragraph, or several. */
  text: string | string[];
  action?: { href: string; label: string };
  /** Lets support find the request in the logs. */
  requestId?: string;
}

/** A page that only says something: errors, and notices without a form. */
export function messagePage({ title, heading, text, action, requestId }: MessagePageProps): string {
  return renderPage(
    <Layout title={title}>
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
          If you ask for help, mention request <code>{requestId}</code>
        </p>
      )}
    </Layout>,
  );
}
