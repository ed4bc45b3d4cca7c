import type { ComponentChildren, VNode } from 'preact';
import { InitialTile } from './layout.js';

interface UserMenuProps {
  /** For screen readers. */
  label: string;
  /** Undefined where a link was enough to come in. */
  name: string | undefined;
  children: ComponentChildren;
}

/** Who works in an area, at the foot of its side bar; it opens what concerns the session. */
export const UserMenu = ({ label, name, children }: UserMenuProps): VNode => (
  <section class="visitor" aria-label={label}>
    <details>
      <summary>
        {name === undefined ? (
          'Session'
        ) : (
          <>
            <InitialTile name={name} kind="person" /> <bdi>{name}</bdi>
          </>
        )}
      </summary>
      {children}
    </details>
  </section>
);
