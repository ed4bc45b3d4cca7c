import type { VNode } from 'preact';

/** Formatted JSON; anything else is shown unchanged. With a label, it can be scrolled with the keyboard. */
export const Json = ({ text, label }: { text: string; label?: string }): VNode => (
  <pre {...(label ? ({ tabIndex: 0, role: 'region', 'aria-label': label } as const) : {})}>
    <code>{pretty(text)}</code>
  </pre>
);

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
