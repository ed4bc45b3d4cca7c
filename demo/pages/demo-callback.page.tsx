import type { LayoutProps } from '#platform/web/layout/layout.js';

export interface DemoCallbackPageProps {
  code?: string;
  error?: string;
}

/** Shows what a partner would receive at its redirect URI, for a person who tries the demonstration. */
export function demoCallbackPage({ code, error }: DemoCallbackPageProps): LayoutProps {
  return {
    title: 'Back at the application',
    children: (
      <>
        <h1>Back at the application</h1>
        {code === undefined ? (
          <>
            <p>
              This page stands in for a partner's application. The authorization returned no code. It returned
              this instead:
            </p>
            <pre>
              <code>{error === undefined ? '(nothing)' : `error=${error}`}</code>
            </pre>
          </>
        ) : (
          <>
            <p>
              This page stands in for a partner's application. It received this authorization code, which
              works once and for one minute. Paste the line into the terminal, and then the command that was
              printed there for this application.
            </p>
            <pre>
              <code>CODE={code}</code>
            </pre>
          </>
        )}
      </>
    ),
  };
}
