import type { ComponentChildren, VNode } from 'preact';

export type Tone = 'good' | 'bad' | 'warn' | 'plain';

/** A state as a word, never indicated by colour alone. */
export const State = ({ tone, children }: { tone: Tone; children: ComponentChildren }): VNode => (
  <span class={`badge badge-${tone}`}>{children}</span>
);

export const Enabled = ({ enabled }: { enabled: boolean }): VNode =>
  enabled ? <State tone="good">Enabled</State> : <State tone="bad">Disabled</State>;
