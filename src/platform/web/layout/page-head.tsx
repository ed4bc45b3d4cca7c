import type { ComponentChildren, VNode } from 'preact';

/** The id of the actions, to which a link of the layout skips. */
export const ACTIONS = 'page-actions';

export interface ParentPage {
  href: string;
  label: string;
}

export interface PageHeadProps {
  /** The parent pages, the nearest last. */
  above?: readonly ParentPage[];
  heading: ComponentChildren;
  /** The actions at the end of the line. */
  actions?: ComponentChildren;
}

/** The title of a page in an area, the pages above it, and its actions. */
export const PageHead = ({ above = [], heading, actions }: PageHeadProps): VNode => (
  <div class="page-head">
    <div class="page-title">
      {above.length > 0 && (
        <nav class="page-above" aria-label="Breadcrumb">
          {above.map(({ href, label }) => (
            <>
              <a href={href}>
                <bdi>{label}</bdi>
              </a>
              <span aria-hidden="true"> / </span>
            </>
          ))}
        </nav>
      )}
      <h1>{heading}</h1>
    </div>
    {actions && (
      <div class="page-actions" id={ACTIONS} tabIndex={-1}>
        {actions}
      </div>
    )}
  </div>
);
