import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import type { Form } from '../http/forms/form.js';
import { IsPassword, IsVisibleText } from '../http/validation/validation.decorators.js';
import { PASSWORD_MAX, PASSWORD_MIN } from '../secrets/passwords.js';
import type { FieldErrors } from '../web/forms/field.js';

interface SignUpFields {
  name: string;
  password: string;
  password_again: string;
}

/** A person by the rules of the admin API. */
class PersonRules {
  @IsVisibleText(1, 200)
  name!: string;

  @IsPassword()
  password!: string;
}

export const signUpFieldsIn = (form: Form): SignUpFields => ({
  name: form.get('name')?.trim() ?? '',
  password: form.get('password') ?? '',
  password_again: form.get('password_again') ?? '',
});

/** What is wrong, by field. */
export function signUpErrors({ password_again: again, ...person }: SignUpFields): FieldErrors {
  const wrong = validateSync(plainToInstance(PersonRules, person));
  const messages = Object.fromEntries(
    wrong.map(({ property, constraints = {} }) => [property, Object.values(constraints)[0]!]),
  );
  const errors: FieldErrors = {};
  if (messages['name']?.startsWith('must be a string')) errors['name'] = 'Enter 1 to 200 characters.';
  else if (messages['name']) errors['name'] = `The name ${messages['name']}.`;
  if (messages['password']) {
    errors['password'] = `The password must have ${PASSWORD_MIN} to ${PASSWORD_MAX} characters.`;
  } else if (person.password !== again) errors['password_again'] = 'The two passwords are not the same.';
  return errors;
}
