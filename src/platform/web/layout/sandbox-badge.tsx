import type { VNode } from 'preact';
import { State } from '../tables/state.js';
import { useText } from './say.js';

/** Marks what belongs to a sandbox; nothing for what is live. */
export function SandboxBadge({ of }: { of: { environment: 'live' | 'sandbox' } }): VNode | null {
  const t = useText();
  return of.environment === 'sandbox' ? <State tone="warn">{t('Sandbox')}</State> : null;
}
