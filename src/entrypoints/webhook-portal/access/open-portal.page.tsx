import { PostForm } from '#platform/web/forms/form.js';
import type { LayoutProps } from '#platform/web/layout/layout.js';
import { SandboxBadge } from '#platform/web/layout/sandbox-badge.js';
import { PORTAL_FOOTER } from '../frame/portal-layout.js';

export interface OpenPortalPageProps {
  clientName: string;
  environment: 'live' | 'sandbox';
  ownerName: string;
  /** The path of this page, to which the form is posted. */
  action: string;
  secondsLeft: number;
  /** The page to open, if it is not the first page of the portal. */
  page?: string;
}

/** The page of a portal link. Only its button redeems the link, so that mail scanners and link previews cannot use it up. */
export function openPortalPage(props: OpenPortalPageProps): LayoutProps {
  const { clientName, environment, ownerName, action, secondsLeft, page } = props;
  return {
    title: 'Open webhook portal',
    footer: PORTAL_FOOTER,
    children: (
      <>
        <h1 class={clientName.length > 48 ? 'long' : undefined}>
          Webhook portal of <bdi class="name">{clientName}</bdi>
        </h1>
        <SandboxBadge of={{ environment }} />
        <p>
          This link opens the webhook portal of the client <bdi class="name">{clientName}</bdi>, which belongs
          to <bdi class="name">{ownerName}</bdi>.
        </p>
        <PostForm action={action} hidden={{ page }}>
          <div class="actions">
            <button type="submit">Open webhook portal</button>
          </div>
        </PostForm>
        <p class="fine-print">The link works once and expires in {timeLeft(secondsLeft)}.</p>
      </>
    ),
  };
}

function timeLeft(seconds: number): string {
  if (seconds < 60) return 'less than a minute';
  const minutes = Math.round(seconds / 60);
  return minutes === 1 ? '1 minute' : `${minutes} minutes`;
}
