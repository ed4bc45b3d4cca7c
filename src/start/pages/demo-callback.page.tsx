import { Layout, renderPage } from '../../http/pages/layout.js';

export interface DemoCallbackPageProps {
  code?: string;
  error?: string;
}

/** What a partner would get at its redirect URI, for a person who tries the demonstration. */
export function demoCallbackPage({ code, error }: DemoCallbackPageProps): string {
  return renderPage(
    <Layout title="Back at the application">
      <h1>Back at the application</h1>
      {code === undefined ? (
        <>
          <p>
            This page stands in for a partner's own. The authorization ended without a code; this is what the
            browser brought instead.
          </p>
          <pre>
            <code>{error === undefined ? '(nothing)' : `error=${error}`}</code>
          </pre>
        </>
      ) : (
        <>
          <p>
            This page stands in for a partner's own. The browser brought this authorization code; it works
            once, within a minute. Paste the line into the terminal, and then the command that was printed
            there for this application.
          </p>
          <pre>
            <code>CODE={code}</code>
          </pre>
        </>
      )}
    </Layout>,
  );
}
