import { isEmail } from 'class-validator';
import { illegible } from '#platform/http/validation/legible-text.js';
import type { Form } from '#platform/http/forms/form.js';
import { say } from '#platform/language/text.js';

const EMAIL_MAX = 254;

/** The address that was typed into the field `email`, and what is wrong with it. */
export function emailIn(form: Form): { email: string; error?: string } {
  const email = form.get('email')?.trim() ?? '';
  const isValid = email.length <= EMAIL_MAX && isEmail(email) && illegible(email) === undefined;
  return isValid
    ? { email }
    : { email: email.slice(0, EMAIL_MAX), error: say('Enter an email address, such as name@mail.example.') };
}
