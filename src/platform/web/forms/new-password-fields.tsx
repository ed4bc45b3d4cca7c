import type { VNode } from 'preact';
import { useText } from '../layout/say.js';
import { TextField } from './field.js';

export interface NewPasswordFieldsProps {
  label: string;
  /** The label of the field in which it is typed once more. */
  repeated: string;
  id?: string;
}

/** The fields `password` and `password_again`; the rules of passwords are in the hint. */
export function NewPasswordFields({ label, repeated, id = 'password' }: NewPasswordFieldsProps): VNode {
  const t = useText();
  return (
    <>
      <TextField
        name="password"
        id={id}
        label={label}
        type="password"
        autocomplete="new-password"
        minLength={12}
        hint={t('12 to 256 characters. No other rules.')}
        required
      />
      <TextField
        name="password_again"
        id={`${id}-again`}
        label={repeated}
        type="password"
        autocomplete="new-password"
        minLength={12}
        required
      />
    </>
  );
}
