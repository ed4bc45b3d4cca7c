import type { VNode } from 'preact';
import { State } from '../tables/state.js';

/** Marks what belongs to a sandbox; nothing for what is live. */
export const SandboxBadge = ({ of }: { of: { environment: 'live' | 'sandbox' } }): VNode | null =>
  of.environment === 'sandbox' ? <State tone="warn">Sandbox</State> : null;
