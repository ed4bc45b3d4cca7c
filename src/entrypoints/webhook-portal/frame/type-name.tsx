import type { VNode } from 'preact';

/** The name of an event type, with line breaks allowed between its parts. */
export function TypeName({ name }: { name: string }): VNode {
  return (
    <>
      {name.split(/(?<=[._])/).map((part) => (
        <>
          {part}
          <wbr />
        </>
      ))}
    </>
  );
}
