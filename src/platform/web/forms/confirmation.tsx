import type { ComponentChildren, VNode } from 'preact';
import { PageForm, type PageFormProps } from './form.js';

export interface ConfirmationProps extends PageFormProps {
  /** The action as a question, or what it is about. */
  question: ComponentChildren;
  /** More about that. */
  facts?: ComponentChildren;
  heading?: string;
  /** What the action ends, and what it keeps. */
  consequences: ComponentChildren[];
  /** Where Cancel leads. */
  cancel: string;
}

/** Lists the consequences of an action before it is done, with the button for it. */
export function Confirmation({ question, facts, heading, consequences, ...form }: ConfirmationProps): VNode {
  return (
    <>
      <p class="lead">{question}</p>
      {facts}
      {heading && <h2>{heading}</h2>}
      <ul>
        {consequences.map((consequence) => (
          <li>{consequence}</li>
        ))}
      </ul>
      <PageForm {...form} />
    </>
  );
}
