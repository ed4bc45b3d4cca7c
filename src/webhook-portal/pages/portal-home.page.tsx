import { CsrfField } from '../../http/pages/csrf-field.js';
import { Layout, renderPage } from '../../http/pages/layout.js';

export interface PortalHomePageProps {
  csrfToken: string;
  clientName: string;
  clientId: string;
  ownerName: string;
  /** When the portal session ends. */
  expiresAt: Date;
}

const UTC_TIME = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' });

/** The first page of a portal session: whose portal it is and how long the session lasts. */
export function portalHomePage(props: PortalHomePageProps): string {
  const { csrfToken, clientName, clientId, ownerName, expiresAt } = props;
  return renderPage(
    <Layout title="Webhook portal" width="wide">
      <p class="eyebrow">Webhook portal</p>
      <h1>
        <bdi>{clientName}</bdi>
      </h1>
      <dl class="facts">
        <div>
          <dt>Client ID</dt>
          <dd>
            <code>{clientId}</code>
          </dd>
        </div>
        <div>
          <dt>Owner</dt>
          <dd>
            <bdi>{ownerName}</bdi>
          </dd>
        </div>
        <div>
          <dt>Session ends</dt>
          <dd>
            <time dateTime={expiresAt.toISOString()}>{UTC_TIME.format(expiresAt)} UTC</time>
          </dd>
        </div>
      </dl>
      <form method="post" action="/portal/logout">
        <CsrfField token={csrfToken} />
        <div class="actions">
          <button type="submit" class="quiet">
            Log out
          </button>
        </div>
      </form>
    </Layout>,
  );
}
