import type { ComponentChildren, VNode } from 'preact';
import type { FieldErrors } from '../form-attempt.js';
import { ConsoleForm } from './form-fields.js';

export interface EndingProps {
  /** The action, as a question. */
  question: ComponentChildren;
  /** What it ends, and what it keeps. */
  consequences: ComponentChildren[];
  action: string;
  csrfToken: string;
  submit: string;
  /** Where Cancel leads. */
  back: string;
  errors?: FieldErrors;
  children?: ComponentChildren;
}

/** Lists the consequences of an action before it is done, with the button for it. */
export function Ending({ question, consequences, back, children, ...form }: EndingProps): VNode {
  return (
    <>
      <p class="lead">{question}</p>
      <h2>What happens</h2>
      <ul>
        {consequences.map((consequence) => (
          <li>{consequence}</li>
        ))}
      </ul>
      <ConsoleForm {...form} danger cancel={{ href: back, label: 'Cancel' }}>
        {children}
      </ConsoleForm>
    </>
  );
}

/** A number that was counted up to a limit, as text. */
const upTo = (count: number, limit: number): string =>
  count >= limit ? `more than ${(limit - 1).toLocaleString('en-GB')}` : count.toLocaleString('en-GB');

/** A number with its noun. */
export const counted = (count: number, limit: number, one: string, several = `${one}s`): string =>
  count === 0 ? `no ${one}` : count === 1 ? `one ${one}` : `${upTo(count, limit)} ${several}`;
