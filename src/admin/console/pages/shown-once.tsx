import type { VNode } from 'preact';

/** A value that is shown once: to be copied with the button that our script adds, or by hand. */
export const CopiedOnce = ({ text }: { text: string }): VNode => (
  <code class="secret" data-copy>
    {text}
  </code>
);
