import { OPERATOR_ROLES } from '#platform/config/operator-role.js';
import { flag, idOf, oneOf, orNull, text, time } from '#platform/http/api/api-schemas.js';
import { ResourceForm, type FormValues } from '#platform/http/resources/resource-form.js';
import { NULL_IF_OMITTED, resource, type ChangesOf, type NewOf } from '#platform/http/resources/resource.js';
import {
  IsEmailAddress,
  IsOneOf,
  IsPassword,
  IsTrueOrFalse,
  IsVisibleText,
} from '#platform/http/validation/validation.decorators.js';
import { ENGLISH_NAMES, LANGUAGES } from '#platform/language/languages.js';
import { ENVIRONMENTS } from './environment.js';
import { USER_KINDS, USER_ROLES, type UserEntity } from './user.entity.js';

/**
 * The fields of a user outside of the database: whether the address is verified instead of when, and a new password instead of
 * its hash.
 */
interface UserFields extends Omit<UserEntity, 'emailVerifiedAt' | 'passwordHash'> {
  emailVerified: boolean;
  password: string;
}

/** The fields of a user (contract §2), for the API, the audit log, forms and company files. */
export const USER = resource<UserFields>()('user', {
  id: { view: idOf('user'), audited: { not: 'the subject of the event' } },
  email: {
    view: text(undefined, { example: 'ada@example.com' }),
    rule: IsEmailAddress(),
    given: 'required',
    changeable: true,
    audited: true,
    form: { as: 'line', label: 'Email', inputMode: 'email' },
  },
  emailKey: { audited: { not: 'follows from the email' } },
  emailVerified: {
    wire: 'email_verified',
    view: flag('Whether the user has shown, or an operator vouches, that the address is theirs.'),
    rule: IsTrueOrFalse(),
    about:
      'True if you vouch that the address, also a new one, is the user’s; for a new user, false by default.',
    given: 'optional',
    initial: false,
    changeable: true,
    audited: true,
    form: {
      as: 'vouch',
      label: 'I vouch that this address is the user’s',
      hint: 'Without this, the address counts as confirmed once the user opens a link that is mailed to it.',
    },
  },
  unwantedMails: { audited: { not: 'has an event of its own: user.mails_chosen' } },
  name: {
    view: text(undefined, { example: 'Ada Lovelace' }),
    rule: IsVisibleText(1, 200),
    given: 'required',
    changeable: true,
    audited: true,
    form: { as: 'text', label: 'Name' },
  },
  language: {
    view: orNull(oneOf(...LANGUAGES)),
    rule: IsOneOf(...LANGUAGES),
    about: 'In which mail is written; null if it is not known.',
    ...NULL_IF_OMITTED,
    changeable: true,
    audited: true,
    form: {
      as: 'select',
      label: 'Language',
      hint: 'Mail to drivers is written in it. The person can choose another one on any page.',
      options: [
        { value: '', label: 'Not known' },
        ...LANGUAGES.map((value) => ({ value, label: ENGLISH_NAMES[value] })),
      ],
    },
  },
  kind: {
    view: oneOf(...USER_KINDS),
    rule: IsOneOf(...USER_KINDS),
    given: 'optional',
    initial: 'individual',
    changeable: true,
    audited: true,
    form: {
      as: 'choice',
      label: 'Kind',
      options: [
        { value: 'individual', label: 'Individual' },
        { value: 'organisation', label: 'Organisation' },
      ],
    },
  },
  password: {
    rule: IsPassword(),
    given: 'optional',
    changeable: true,
    audited: { not: 'has events of its own: user.password_changed, user.sign_in_ways_ended' },
  },
  role: {
    view: oneOf(...USER_ROLES),
    rule: IsOneOf(...USER_ROLES),
    given: 'optional',
    initial: 'user',
    changeable: true,
    audited: true,
  },
  operatorRole: {
    wire: 'operator_role',
    view: orNull(oneOf(...OPERATOR_ROLES)),
    rule: IsOneOf(...OPERATOR_ROLES),
    about: 'Only for operators. Who becomes one without it is an `admin`; who is one already keeps the role.',
    given: 'optional',
    initial: null,
    changeable: true,
    audited: true,
  },
  webhooksEnabled: {
    wire: 'webhooks_enabled',
    view: flag('Whether clients of this owner may open the webhook portal.'),
    rule: IsTrueOrFalse(),
    about: 'Whether clients of this owner may open the webhook portal; for a new user, true by default.',
    given: 'optional',
    initial: true,
    changeable: true,
    audited: true,
    form: { as: 'tick', label: 'Clients of this owner may open the webhook portal' },
  },
  enabled: { view: flag(), rule: IsTrueOrFalse(), changeable: true, audited: true },
  environment: {
    view: oneOf(...ENVIRONMENTS),
    audited: (environment) => (environment === 'sandbox' ? environment : undefined),
  },
  sandboxOwnerId: {
    wire: 'sandbox_owner_id',
    view: orNull(idOf('user', 'The owner whose sandbox a driver belongs to; null for everybody else.')),
    audited: { not: 'never changes' },
  },
  realm: { audited: { not: 'follows from the environment and the owner of the sandbox' } },
  createdAt: { wire: 'created_at', view: time(), audited: { not: 'the time of user.created' } },
  updatedAt: { wire: 'updated_at', view: time(), audited: { not: 'the time of the event' } },
});

type UserFieldsOf = typeof USER.fields;
export type NewUser = NewOf<UserFields, UserFieldsOf> & {
  /** Makes it a driver in the sandbox of this owner. */
  sandboxOwnerId?: string;
};
export type UserChanges = ChangesOf<UserFields, UserFieldsOf>;

export const USER_FORM = new ResourceForm(USER);
export type UserFormValues = FormValues<UserFieldsOf>;

/** The entity as those fields. */
export const userFieldsOf = (user: UserEntity): Omit<UserFields, 'password'> => ({
  ...user,
  emailVerified: user.emailVerifiedAt !== null,
});

/** A user in the audit log. */
export const auditView = (user: UserEntity): Record<string, unknown> => USER.auditView(userFieldsOf(user));
