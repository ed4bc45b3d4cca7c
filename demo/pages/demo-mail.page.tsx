import type { VNode } from 'preact';
import type { LayoutProps } from '#platform/web/layout/layout.js';
import { Facts } from '#platform/web/tables/facts.js';
import { Moment } from '#platform/web/tables/moment.js';
import type { DemoMail } from '../demo-inbox.js';

const FOOTER = 'demonstration';

/** Every mail, newest first. */
export const demoInboxPage = (mails: DemoMail[]): LayoutProps => ({
  title: 'Inbox',
  width: 'wide',
  footer: FOOTER,
  children: (
    <>
      <h1>Inbox</h1>
      <p>
        The demonstration sends no mail. What it would send is kept here, for every address, until it stops.
      </p>
      {mails.length === 0 ? (
        <p class="empty">
          There are no mails yet. <a href="/password/forgotten">Ask for a new password</a>, or{' '}
          <a href="/sign-up">create an account</a>.
        </p>
      ) : (
        <ul class="entries" role="list">
          {mails.map(({ id, subject, to, sentAt }) => (
            <li>
              <h2>
                <a href={`/demo/mail/${id}`}>{subject}</a>
              </h2>
              <p>
                To <bdi>{to}</bdi>, <Moment at={sentAt} />
              </p>
            </li>
          ))}
        </ul>
      )}
    </>
  ),
});

/** One mail as mail programs show it, and the same as plain text with its links. */
export const demoMailPage = ({ id, subject, to, sentAt, text }: DemoMail): LayoutProps => ({
  title: subject,
  width: 'wide',
  footer: FOOTER,
  children: (
    <>
      <p class="above">
        <a href="/demo/mail">← Inbox</a>
      </p>
      <h1>{subject}</h1>
      <Facts
        facts={[
          ['To', <bdi>{to}</bdi>],
          ['Sent', <Moment at={sentAt} />],
        ]}
      />
      <iframe
        class="mail"
        src={`/demo/mail/${id}/html`}
        title="The mail"
        sandbox="allow-top-navigation-by-user-activation"
      />
      <details>
        <summary>As text</summary>
        <p class="long-text">
          {text.split(/(https?:\/\/\S+)/).map((part, n) => (n % 2 === 1 ? <Link url={part} /> : part))}
        </p>
      </details>
    </>
  ),
});

const Link = ({ url }: { url: string }): VNode => <a href={url}>{url}</a>;
