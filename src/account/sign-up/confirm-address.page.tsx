import { PostForm } from '../../web/forms/form.js';
import type { LayoutProps } from '../../web/layout/layout.js';

export interface ConfirmAddressPageProps {
  /** Path to post to. */
  action: string;
  email: string;
}

/** Asks whether the address is that of the person who opened the link. */
export const confirmAddressPage = ({ action, email }: ConfirmAddressPageProps): LayoutProps => ({
  title: 'Confirm your address',
  children: (
    <>
      <h1>Is this your email address?</h1>
      <p class="lead">
        <bdi class="name">{email}</bdi>
      </p>
      <p>Confirm it, and we’ll send account emails here from now on.</p>
      <PostForm action={action}>
        <div class="actions">
          <button type="submit">Confirm address</button>
        </div>
      </PostForm>
    </>
  ),
});
