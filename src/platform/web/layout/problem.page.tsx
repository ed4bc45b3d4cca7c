import { Facts } from '../tables/facts.js';
import type { LayoutProps } from './layout.js';

export interface ProblemPageProps {
  /** Last part of the problem's `type` URL. */
  slug: string;
  title: string;
  status: number;
  explanation: string | string[];
  whatToDo: string | string[];
}

/** Explains one problem type to developers: the page at the `type` URL of an RFC 9457 response. */
export function problemPage({ slug, title, status, explanation, whatToDo }: ProblemPageProps): LayoutProps {
  return {
    title,
    width: 'wide',
    children: (
      <>
        <p class="eyebrow">API problem</p>
        <h1>{title}</h1>
        <Facts
          facts={[
            ['HTTP status', <code>{status}</code>],
            ['Problem kind', <code>{slug}</code>],
          ]}
        />
        <h2>What happened</h2>
        {[explanation].flat().map((paragraph) => (
          <p>{paragraph}</p>
        ))}
        <h2>What to do</h2>
        {[whatToDo].flat().map((paragraph) => (
          <p>{paragraph}</p>
        ))}
        <p>
          <a href="/docs/guides/errors">All errors</a>
        </p>
      </>
    ),
  };
}
