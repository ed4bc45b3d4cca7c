import { withReturnTo } from '../../http/forms/return-to.js';
import { TextField } from '../../web/forms/field.js';
import { PageForm } from '../../web/forms/form.js';
import { LinkButton } from '../../web/forms/form.js';
import type { LayoutProps } from '../../web/layout/layout.js';

export interface EmailFormPageProps {
  title: string;
  text: string;
  /** Path to post to. */
  action: string;
  submit: string;
  /** What was typed, and what is wrong with it. */
  email?: string;
  error?: string;
  /** Where the person was going; the mailed link leads there. */
  returnTo?: string;
}

/** A form that asks for an email address, to which something is mailed. It posts `email`. */
export const emailFormPage = ({
  title,
  text,
  action,
  submit,
  email,
  error,
  returnTo,
}: EmailFormPageProps): LayoutProps => ({
  title,
  children: (
    <>
      <h1>{title}</h1>
      <p>{text}</p>
      <PageForm
        action={action}
        hidden={{ return_to: returnTo }}
        values={{ email }}
        errors={error === undefined ? {} : { email: error }}
        submit={submit}
        cancel={withReturnTo('/login', returnTo)}
        keep="Back to login"
        noValidate
      >
        <TextField name="email" label="Email" autocomplete="username" spellcheck={false} required />
      </PageForm>
    </>
  ),
});

/** Says what happens next: the same for every address. */
export const mailSentPage = (email: string, text: string, returnTo: string | undefined): LayoutProps => ({
  title: 'Check your email',
  children: (
    <>
      <h1>Check your email</h1>
      <p class="lead">
        <bdi class="name">{email}</bdi>
      </p>
      <p>{text}</p>
      <p>
        If nothing comes within a few minutes, check the address and your spam folder, and try again later.
      </p>
      <p class="actions">
        <LinkButton href={withReturnTo('/login', returnTo)}>Go to the login page</LinkButton>
      </p>
    </>
  ),
});
