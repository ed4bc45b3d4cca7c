import type { ComponentChildren, VNode } from 'preact';

/** What was just done, if anything. */
export const DoneNotice = ({ notice }: { notice: string | undefined }): VNode | null =>
  notice ? (
    <p class="notice" role="status">
      {notice}
    </p>
  ) : null;

/** What went wrong; screen readers read it out at once. */
export const ErrorNotice = ({ children }: { children: ComponentChildren }): VNode => (
  <p class="notice notice-error" role="alert">
    {children}
  </p>
);
