import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import type { Form } from '#platform/http/forms/form.js';
import { violationsOf } from '#platform/http/validation/validation.pipe.js';
import { IsPassword, IsVisibleText } from '#platform/http/validation/validation.decorators.js';
import type { FieldErrors } from '#platform/web/forms/field.js';
import type { Violations } from '#platform/http/problems/violation.js';
import { said, say } from '#platform/language/text.js';

interface SignUpFields {
  name: string;
  password: string;
  password_again: string;
}

/** A person by the rules of the admin API. */
class PersonRules {
  @IsVisibleText(1, 200) name!: string;
  @IsPassword() password!: string;
}

export const signUpFieldsIn = (form: Form): SignUpFields => ({
  name: form.get('name')?.trim() ?? '',
  password: form.get('password') ?? '',
  password_again: form.get('password_again') ?? '',
});

/** What is wrong, by field. */
export function signUpErrors({ password_again: again, ...person }: SignUpFields): FieldErrors {
  const errors = nameErrors(person.name);
  if (violationsIn(person)['password']) {
    errors['password'] = say('The password must have 12 to 256 characters.');
  } else if (person.password !== again) errors['password_again'] = say('The two passwords are not the same.');
  return errors;
}

/** Errors in the name, the only field that a person with a passkey fills in. */
export function nameErrors(name: string): FieldErrors {
  const [found] = violationsIn({ name, password: '' })['name'] ?? [];
  if (!found) return {};
  return {
    name:
      found.code === 'hidden_character'
        ? said(
            say(
              'The name must not contain control, bidirectional or invisible characters, such as {character}.',
            ),
            found.params as { character: string },
          )
        : say('Enter 1 to 200 characters.'),
  };
}

const violationsIn = (person: PersonRules): Violations =>
  violationsOf(validateSync(plainToInstance(PersonRules, person)));
