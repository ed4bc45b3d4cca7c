import type { ComponentChildren } from 'preact';
import { CsrfField } from '../../http/pages/csrf-field.js';
import { renderPortalPage, type PortalLayoutProps } from './portal-layout.js';

export interface ConfirmPageProps {
  layoutProps: PortalLayoutProps;
  csrfToken: string;
  title: string;
  endpointUrl: string;
  /** Path of the page, which the form posts back to; `back` is where Cancel leads. */
  action: string;
  back: string;
  button: { label: string; danger?: boolean };
  keep: string;
  /** Additional hidden fields. */
  fields?: Record<string, string>;
  children: ComponentChildren;
}

/** Explains an action on an endpoint before it is done. */
export function confirmPage(props: ConfirmPageProps): string {
  const {
    layoutProps,
    csrfToken,
    title,
    endpointUrl,
    action,
    back,
    button,
    keep,
    fields = {},
    children,
  } = props;
  return renderPortalPage({
    layoutProps,
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
          {Object.entries(fields).map(([name, value]) => (
            <input type="hidden" name={name} value={value} />
          ))}
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
