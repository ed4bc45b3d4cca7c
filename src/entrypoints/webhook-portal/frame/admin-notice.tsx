import type { VNode } from 'preact';
import { confirmPathFor } from '#access/users/factors/factor-paths.js';
import { LinkButton } from '#platform/web/forms/form.js';

/** Whether the visitor may use admin actions: see `PortalContext.adminState`. */
export type AdminState = 'no admin' | 'to confirm' | 'confirmed';

/** Shown in place of admin actions: who may use them, or that a new login is needed first. */
export function AdminNotice({
  state,
  what,
  path,
}: {
  state: AdminState;
  what: string;
  path: string;
}): VNode | null {
  if (state === 'confirmed') return null;
  if (state === 'no admin') {
    return (
      <p class="muted">
        Members of the organisation who are admins and log in with their own account can {what}.
      </p>
    );
  }
  return (
    <>
      <p>To {what}, confirm that it is you. You last logged in more than 15 minutes ago.</p>
      <p class="actions">
        <LinkButton href={confirmPathFor(path)}>Confirm that it is you</LinkButton>
      </p>
    </>
  );
}
