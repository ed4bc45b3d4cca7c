import { OPERATOR_ROLES } from '#platform/config/operator-role.js';
import { Choices, type FieldErrors } from '#platform/web/forms/field.js';
import { isAdmin } from '#access/users/accounts/user-changes.js';
import type { UserEntity } from '#access/users/accounts/user.entity.js';
import { COUNTED_UP_TO, SECOND_ADMIN } from '../clients/client-action.page.js';
import type { ConsolePage } from '../pages/console-layout.js';
import { counted, ActionConfirmation } from '../pages/action-confirmation.js';
import { ROLE_LABELS } from './role-labels.js';
import { aboutUser, userPath } from './user-layout.js';

export type UserAction =
  | 'disable'
  | 'revoke'
  | 'make-operator'
  | 'remove-operator'
  | 'reset-second-factor'
  | 'erase';

export interface UserActionPageProps {
  user: UserEntity;
  action: UserAction;
  grants: number;
  /** Whether it is the operator's own account. */
  isSelf: boolean;
  /** Whether the user counts as an operator. */
  isProtected: boolean;
  /** Whether a second admin has to approve what needs that. */
  fourEyes: boolean;
  /** Whether people log in with passwords here. */
  withPassword: boolean;
  errors?: FieldErrors;
}

interface Messages {
  title: string;
  question: string;
  consequences: (grants: number, withPassword: boolean) => string[];
}

const many = (grants: number): string => counted(grants, COUNTED_UP_TO, 'grant');

const tokensOf = (grants: number): string =>
  grants === 0
    ? 'No client has tokens for this account.'
    : `All tokens for this account are revoked immediately, with ${many(grants)}.`;

const MESSAGES: Record<UserAction, Messages> = {
  disable: {
    title: 'Disable user',
    question: 'Disable',
    consequences: (grants) => [
      'The user is logged out everywhere and cannot log in.',
      `${tokensOf(grants)} Enabling the account again does not restore any token.`,
      'Client-credentials tokens of this owner’s clients are revoked too.',
      'Consents are kept, but have no effect while the account is disabled.',
    ],
  },
  revoke: {
    title: 'Revoke all tokens',
    question: 'Revoke every token and grant of',
    consequences: (grants) => [
      grants === 0
        ? 'No client has access now, so nothing is revoked.'
        : `Every client loses access immediately: ${many(grants)}. Each has to ask the user to authorize it again.`,
      'The user stays logged in here, and consents are kept.',
    ],
  },
  'make-operator': {
    title: 'Make operator',
    question: 'Give console access to',
    consequences: (_grants, withPassword) => [
      'Every operator sees all clients, users and deliveries, and the audit log.',
      'An admin can also change and delete clients and users, and make other operators.',
      `With a higher role than before, the password, passkeys, authenticator app, recovery codes and links to providers that the account has now stop working, because someone else may have set them${withPassword ? ': create a password link afterwards' : ''}.`,
      `The user is logged out everywhere${withPassword ? ', and password links that were not used yet stop working' : ''}.`,
    ],
  },
  'remove-operator': {
    title: 'Remove operator role',
    question: 'Remove console access from',
    consequences: () => [
      'The user can no longer open the console, and is logged out everywhere.',
      'Clients of this user with scopes for operators are disabled and lose their tokens, unless they are company services.',
    ],
  },
  'reset-second-factor': {
    title: 'Reset second factor',
    question: 'Remove every passkey, the authenticator app and the recovery codes of',
    consequences: () => [
      'Make sure that it is really this person who asks: anyone who knows the password can then log in.',
      'The user is logged out everywhere, logs in with the password alone, and is told. Without a password, the user needs a password link: create one afterwards.',
      'An operator who needs a second factor sets up a new one before opening the console.',
    ],
  },
  erase: {
    title: 'Erase user',
    question: 'Erase',
    consequences: (grants) => [
      `Account, sessions, consents and notifications are deleted. ${tokensOf(grants)}`,
      'Each client that could read the data is notified. Pending deliveries about the person are cancelled, and payloads of past deliveries are deleted here.',
      'The audit log keeps only IDs: the person’s, and those of the clients that could read the data.',
      'This cannot be undone. A user who owns clients cannot be erased: delete the clients first.',
    ],
  },
};

/** Whether this waits for a second admin because the user is another operator. */
const waitsOnOperators = ({ action, isProtected, isSelf }: UserActionPageProps): boolean =>
  isProtected && !isSelf && ['make-operator', 'remove-operator', 'reset-second-factor'].includes(action);

/** Whether this may leave one enabled admin, which waits for a second admin. */
const mayLeaveOneAdmin = (props: UserActionPageProps): boolean =>
  isAdmin(props.user) &&
  ['disable', 'make-operator', 'remove-operator'].includes(props.action) &&
  !waitsOnOperators(props);

/** Explains the consequences before a user is disabled or erased, loses all tokens, or gets another role. */
export function userActionPage(props: UserActionPageProps): ConsolePage {
  const { user, action, grants, isSelf, isProtected, fourEyes, withPassword, errors } = props;
  const { title, question, consequences } = MESSAGES[action];
  const choosesRole = action === 'make-operator';
  const listed = [
    ...consequences(grants, withPassword),
    ...(fourEyes && (action === 'erase' || waitsOnOperators(props)) ? [SECOND_ADMIN] : []),
    ...(fourEyes && mayLeaveOneAdmin(props)
      ? [`If only one enabled admin would remain: ${SECOND_ADMIN}`]
      : []),
    ...(fourEyes && choosesRole && !isProtected ? [`For the role admin: ${SECOND_ADMIN}`] : []),
  ];
  return aboutUser(user, {
    title,
    children: (
      <ActionConfirmation
        question={
          <>
            {question} <bdi class="name">{user.name}</bdi>?
          </>
        }
        consequences={isSelf ? ['This is your own account.', ...listed] : listed}
        action={userPath(user.id, action)}
        errors={errors}
        submit={title}
        cancel={userPath(user.id)}
        values={choosesRole ? { operator_role: user.operatorRole ?? 'viewer' } : undefined}
      >
        {choosesRole && (
          <Choices
            name="operator_role"
            label="Role"
            type="radio"
            options={OPERATOR_ROLES.map((value) => ({ value, label: ROLE_LABELS[value] }))}
          />
        )}
      </ActionConfirmation>
    ),
  });
}
