import type { ComponentChildren, VNode } from 'preact';

export type Fact = [name: string, value: ComponentChildren];

/** Names and values; what is false or null is left out. */
export function Facts({ facts }: { facts: (Fact | false | null)[] }): VNode {
  return (
    <dl class="facts">
      {facts.map(
        (fact) =>
          fact && (
            <div>
              <dt>{fact[0]}</dt>
              <dd>{fact[1]}</dd>
            </div>
          ),
      )}
    </dl>
  );
}
