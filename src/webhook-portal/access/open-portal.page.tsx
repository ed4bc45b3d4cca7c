import { PostForm } from '../../web/forms/form.js';
import type { LayoutProps } from '../../web/layout/layout.js';
import { SandboxBadge } from '../../web/layout/sandbox-badge.js';
import { PORTAL_FOOTER } from '../frame/portal-layout.js';

export interface OpenPortalPageProps {
  clientName: string;
  environment: 'live' | 'sandbox';
  ownerName: string;
  /** Path to post back to: the one of this page. */
  action: string;
  secondsLeft: number;
  /** The page to open, if not the first. */
  page?: string;
}

/**
 * The page of a portal link. The button uses up the link, not the visit, so that mail scanners and link previews
 * cannot.
 */
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
