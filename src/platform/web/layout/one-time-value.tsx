import type { ComponentChildren, VNode } from 'preact';
import { LinkButton } from '../forms/form.js';
import { ErrorNotice } from './notices.js';
import { useText } from './say.js';

/** A value that is shown once: to be copied with the button that our script adds, or by hand. */
export const CopiedOnce = ({ text }: { text: string }): VNode => (
  <code class="secret" data-copy="">
    {text}
  </code>
);

/** Something that was just created, with what to do with it. */
export const OneTimeValue = (props: {
  note: ComponentChildren;
  next: string;
  children: ComponentChildren;
}): VNode => (
  <>
    <p class="notice" role="status">
      {props.note}
    </p>
    {props.children}
    <p class="buttons">
      <LinkButton href={props.next}>{useText()('I have copied it')}</LinkButton>
    </p>
  </>
);

/** Said instead if the page is opened again. */
export const ShownAlready = ({ note, children }: { note: string; children: ComponentChildren }): VNode => (
  <>
    <ErrorNotice>{note}</ErrorNotice>
    <p class="buttons">{children}</p>
  </>
);
