import type { Form } from '../../../http/forms/form.js';
import type { UserEntity } from '../../../users/accounts/user.entity.js';

/** The values of a user form. */
export interface UserFields {
  email: string;
  name: string;
  language: string | null;
  kind: string;
  webhooks_enabled: boolean;
  /** Only true: an operator vouches for the address. */
  email_verified?: true;
}

export const EMPTY_USER: UserFields = {
  email: '',
  name: '',
  language: null,
  kind: 'individual',
  webhooks_enabled: true,
};

export const userFieldsOf = ({ email, name, language, kind, webhooksEnabled }: UserEntity): UserFields => ({
  email,
  name,
  language,
  kind,
  webhooks_enabled: webhooksEnabled,
});

/** Whether a change may give someone else access: through a link sent to another email, or through the webhook portal. */
export const givesPower = (user: UserEntity, fields: UserFields): boolean =>
  fields.email !== user.email || (fields.webhooks_enabled && !user.webhooksEnabled);

/**
 * The members in the format of the admin API, to be validated by its rules. `kept`: what a form without the field leaves as it is.
 */
export const userFieldsIn = (form: Form, kept?: { webhooks_enabled: boolean }): UserFields => ({
  email: form.get('email')?.trim() ?? '',
  name: form.get('name') ?? '',
  language: form.get('language') || null,
  kind: form.get('kind') ?? '',
  webhooks_enabled: kept ? kept.webhooks_enabled : form.get('webhooks_enabled') === 'true',
  ...(form.get('email_verified') === 'true' ? { email_verified: true } : {}),
});
