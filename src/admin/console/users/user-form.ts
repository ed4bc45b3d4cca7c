import type { Form } from '../../../http/form.js';
import type { UserEntity } from '../../../users/user.entity.js';

/** What stands in the fields of a user's form. */
export interface UserFields {
  email: string;
  name: string;
  kind: string;
  webhooks_enabled: boolean;
}

export const EMPTY_USER: UserFields = { email: '', name: '', kind: 'individual', webhooks_enabled: true };

export const userFieldsOf = ({ email, name, kind, webhooksEnabled }: UserEntity): UserFields => ({
  email,
  name,
  kind,
  webhooks_enabled: webhooksEnabled,
});

/** The members as the admin API takes them, to be checked by its rules. */
export const userFieldsIn = (form: Form): UserFields => ({
  email: form.get('email')?.trim() ?? '',
  name: form.get('name') ?? '',
  kind: form.get('kind') ?? '',
  webhooks_enabled: form.get('webhooks_enabled') === 'true',
});
