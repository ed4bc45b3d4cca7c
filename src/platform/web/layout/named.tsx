import type { ComponentChildren, VNode } from 'preact';

/** A text in which a name is shown by `show`, wherever it stands. */
export function Named(props: { text: string; name: string; show: (name: string) => VNode }): VNode {
  const { text, name, show } = props;
  if (name === '') return <>{text}</>;
  const children: ComponentChildren[] = [];
  text.split(name).forEach((part, index) => {
    if (index > 0) children.push(show(name));
    children.push(part);
  });
  return <>{children}</>;
}
