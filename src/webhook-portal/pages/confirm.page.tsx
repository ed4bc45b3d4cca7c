import type { ComponentChildren } from 'preact';
import { CsrfField } from '../../http/pages/csrf-field.js';
import { renderPortalPage, type PortalFrame } from './portal-layout.js';

export interface ConfirmPageProps {
  frame: PortalFrame;
  csrfToken: string;
  title: string;
  endpointUrl: string;
  /** Address of the page, which the form posts back to, and of where to go instead. */
  action: string;
  back: string;
  button: { label: string; danger?: boolean };
  keep: string;
  children: ComponentChildren;
}

/** Says what something means before it is done to an endpoint. */
export function confirmPage(props: ConfirmPageProps): string {
  const { frame, csrfToken, title, endpointUrl, action, back, button, keep, children } = props;
  return renderPortalPage({
    frame,
    title,
    part: 'endpoints',
    above: { href: back, label: 'Endpoint' },
    children: (
      <>
        <p class="lead">
          <bdi>{endpointUrl}</bdi>
        </p>
        {children}
        <form method="post" action={action}>
          <CsrfField token={csrfToken} />
          <div class="actions actions-row">
            <button type="submit" class={button.danger ? 'danger' : undefined}>
              {button.label}
            </button>
            <a class="button-link quiet" href={back}>
              {keep}
            </a>
          </div>
        </form>
      </>
    ),
  });
}
