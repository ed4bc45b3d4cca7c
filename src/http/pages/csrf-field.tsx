import type { VNode } from 'preact';

/** The hidden field that carries the CSRF token in every form. */
export function CsrfField({ token }: { token: string }): VNode {
  return <input type="hidden" name="csrf_token" value={token} />;
}
