import type { VNode } from 'preact';
import { say } from '#platform/language/text.js';
import { withReturnTo } from '#platform/http/forms/return-to.js';
import { TextField } from '#platform/web/forms/field.js';
import { PageForm } from '#platform/web/forms/form.js';
import { LinkButton } from '#platform/web/forms/form.js';
import type { LayoutProps } from '#platform/web/layout/layout.js';
import { useText } from '#platform/web/layout/say.js';

/** Its words are messages. */
export interface EmailFormPageProps {
  title: string;
  text: string;
  /** Path to post to. */
  action: string;
  submit: string;
  /** What was typed, and what is wrong with it. */
  email?: string;
  error?: string;
  /** The page that the person wanted to open; the mailed link leads there. */
  returnTo?: string;
}

/** A form that asks for an email address to mail something to. It posts `email`. */
export const emailFormPage = (props: EmailFormPageProps): LayoutProps => ({
  title: props.title,
  isTranslated: true,
  children: <EmailForm {...props} />,
});

function EmailForm({ title, text, action, submit, email, error, returnTo }: EmailFormPageProps): VNode {
  const t = useText();
  return (
    <>
      <h1>{t(title)}</h1>
      <p>{t(text)}</p>
      <PageForm
        action={action}
        hidden={{ return_to: returnTo }}
        values={{ email }}
        errors={error === undefined ? {} : { email: error }}
        submit={t(submit)}
        cancel={withReturnTo('/login', returnTo)}
        keep={t('Back to login')}
        noValidate
      >
        <TextField
          name="email"
          label={t('Email')}
          inputMode="email"
          autocomplete="username"
          spellcheck={false}
          required
        />
      </PageForm>
    </>
  );
}

/** Explains what happens next, the same for every address. `text` is a message. */
export const mailSentPage = (email: string, text: string, returnTo: string | undefined): LayoutProps => ({
  title: say('Check your email'),
  isTranslated: true,
  children: <MailSent email={email} text={text} returnTo={returnTo} />,
});

function MailSent({ email, text, returnTo }: { email: string; text: string; returnTo?: string }): VNode {
  const t = useText();
  return (
    <>
      <h1>{t('Check your email')}</h1>
      <p class="lead">
        <bdi class="name">{email}</bdi>
      </p>
      <p>{t(text)}</p>
      <p>
        {t(
          'If nothing comes within a few minutes, check the address and your spam folder, and try again later.',
        )}
      </p>
      <p class="actions">
        <LinkButton href={withReturnTo('/login', returnTo)}>{t('Go to the login page')}</LinkButton>
      </p>
    </>
  );
}
