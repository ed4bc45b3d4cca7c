import { Injectable } from '@nestjs/common';
import { OPERATOR_ROLES } from '#platform/config/operator-role.js';
import { Settings } from '#platform/config/settings.js';
import { Choices } from '#platform/web/forms/field.js';
import { GrantsService } from '#access/tokens/grants/grants.service.js';
import { OperatorProtectionService } from '#access/users/accounts/operator-protection.service.js';
import { isAdmin } from '#access/users/accounts/user-changes.js';
import type { UserEntity } from '#access/users/accounts/user.entity.js';
import { USER } from '#access/users/accounts/user.resource.js';
import { UsersService } from '#access/users/accounts/users.service.js';
import { UserChangesDto } from '../../api/users/admin-users.dto.js';
import { AdminActions } from '../../actions/admin-actions.service.js';
import type { ConsoleContext } from '../console-context.js';
import { formValue } from '../form-attempt.js';
import { counted } from '../pages/disconnection.js';
import {
  confirmedActions,
  COUNTED_UP_TO,
  SECOND_ADMIN,
  type ActionSubjects,
  type ConfirmedAction,
} from '../pages/confirmed-actions.js';
import { aboutUser, USERS_PATH, userPath, ROLE_LABELS } from './user-layout.js';

interface AboutUser {
  user: UserEntity;
  grants: number;
  /** Whether it is the operator's own account. */
  isSelf: boolean;
  /** Whether the user counts as an operator. */
  isProtected: boolean;
  /** Whether a second admin has to approve what needs that. */
  fourEyes: boolean;
  /** Whether people log in with passwords here. */
  withPassword: boolean;
}

@Injectable()
export class UserSubjects implements ActionSubjects<AboutUser> {
  constructor(
    private readonly users: UsersService,
    readonly grants: GrantsService,
    private readonly protection: OperatorProtectionService,
    readonly actions: AdminActions,
    private readonly settings: Settings,
  ) {}

  async about(id: string, context: ConsoleContext): Promise<AboutUser> {
    const user = await this.users.get(id);
    const grants = await this.grants.countLive({ userId: id }, COUNTED_UP_TO);
    const isProtected = await this.protection.counts(user);
    const { fourEyes, passwordSignIn: withPassword } = this.settings;
    return { user, grants, isSelf: id === context.user.id, isProtected, fourEyes, withPassword };
  }

  readonly nameOf = ({ user }: AboutUser) => user.name;
  readonly pathOf = userPath;
  readonly page = ({ user }: AboutUser, page: Parameters<typeof aboutUser>[1]) => aboutUser(user, page);
}

const tokensOf = ({ grants }: AboutUser): string =>
  grants === 0
    ? 'No client has tokens for this account.'
    : `All tokens for this account are revoked immediately, with ${many(grants)}.`;

const many = (grants: number): string => counted(grants, COUNTED_UP_TO, 'grant');

const itself = ({ isSelf }: AboutUser): string[] => (isSelf ? ['This is your own account.'] : []);

/** Said of what waits for a second admin if the user is another operator. */
const onOperators = ({ fourEyes, isProtected, isSelf }: AboutUser): string[] =>
  fourEyes && isProtected && !isSelf ? [SECOND_ADMIN] : [];

/** Said of what waits for a second admin if it leaves one enabled admin. */
const onLastButOne = ({ fourEyes, user }: AboutUser): string[] =>
  fourEyes && isAdmin(user) ? [`If only one enabled admin would remain: ${SECOND_ADMIN}`] : [];

const ofRole = (about: AboutUser): string[] => {
  const waits = onOperators(about);
  return waits.length > 0 ? waits : onLastButOne(about);
};

/** Actions that end a user or what depends on the account, or change the role. */
const USER_ACTIONS: Record<string, ConfirmedAction<AboutUser, UserSubjects>> = {
  disable: {
    title: 'Disable user',
    question: 'Disable',
    least: 'support',
    consequences: (about) => [
      ...itself(about),
      'The user is logged out everywhere and cannot log in.',
      `${tokensOf(about)} Enabling the account again does not restore any token.`,
      'Client-credentials tokens of this owner’s clients are revoked too.',
      'Consents are kept, but have no effect while the account is disabled.',
      ...onLastButOne(about),
    ],
    notice: 'user_disabled',
    work: ({ actions }, id, { actor }) => actions.run('user.update', id, { enabled: false }, actor),
  },
  revoke: {
    title: 'Revoke all tokens',
    question: 'Revoke every token and grant of',
    least: 'support',
    consequences: (about) => [
      ...itself(about),
      about.grants === 0
        ? 'No client has access now, so nothing is revoked.'
        : `Every client loses access immediately: ${many(about.grants)}. Each has to ask the user to authorize it again.`,
      'The user stays logged in here, and consents are kept.',
    ],
    notice: 'tokens_revoked',
    work: async ({ grants }, id, { actor }) => ({ done: await grants.revokeForUser(id, actor) }),
  },
  'make-operator': {
    title: 'Make operator',
    question: 'Give console access to',
    consequences: (about) => [
      ...itself(about),
      'Every operator sees all clients, users and deliveries, and the audit log.',
      'An admin can also change and delete clients and users, and make other operators.',
      `With a higher role than before, the password, passkeys, authenticator app, recovery codes and links to providers that the account has now stop working, because someone else may have set them${about.withPassword ? ': create a password link afterwards' : ''}.`,
      `The user is logged out everywhere${about.withPassword ? ', and password links that were not used yet stop working' : ''}.`,
      ...ofRole(about),
      ...(about.fourEyes && !about.isProtected ? [`For the role admin: ${SECOND_ADMIN}`] : []),
    ],
    fields: (
      <Choices
        name="operator_role"
        label="Role"
        type="radio"
        options={OPERATOR_ROLES.map((value) => ({ value, label: ROLE_LABELS[value] }))}
      />
    ),
    values: ({ user }) => ({ operator_role: user.operatorRole ?? 'viewer' }),
    notice: 'operator_made',
    work: async ({ actions }, id, { actor, form }) => {
      const members = { role: 'operator', operator_role: form.get('operator_role') ?? '' };
      return actions.run('user.update', id, USER.changesOf(await formValue(UserChangesDto, members)), actor);
    },
  },
  'remove-operator': {
    title: 'Remove operator role',
    question: 'Remove console access from',
    consequences: (about) => [
      ...itself(about),
      'The user can no longer open the console, and is logged out everywhere.',
      'Clients of this user with scopes for operators are disabled and lose their tokens, unless they are company services.',
      ...ofRole(about),
    ],
    notice: 'operator_removed',
    work: ({ actions }, id, { actor }) => actions.run('user.update', id, { role: 'user' }, actor),
  },
  /** For oneself it is refused, with the reason. */
  'reset-second-factor': {
    title: 'Reset second factor',
    question: 'Remove every passkey, the authenticator app and the recovery codes of',
    least: 'support',
    consequences: (about) => [
      ...itself(about),
      'Make sure that it is really this person who asks: anyone who knows the password can then log in.',
      'The user is logged out everywhere, logs in with the password alone, and is told. Without a password, the user needs a password link: create one afterwards.',
      'An operator who needs a second factor sets up a new one before opening the console.',
      ...onOperators(about),
    ],
    notice: 'second_factor_reset',
    work: ({ actions }, id, { actor, user }) =>
      actions.run('user.reset_second_factor', id, { own: user.id }, actor),
  },
  /** An owner of clients is refused, with the reason. */
  erase: {
    title: 'Erase user',
    question: 'Erase',
    consequences: (about) => [
      ...itself(about),
      `Account, sessions, consents and notifications are deleted. ${tokensOf(about)}`,
      'Each client that could read the data is notified. Pending deliveries about the person are cancelled, and payloads of past deliveries are deleted here.',
      'The audit log keeps only IDs: the person’s, and those of the clients that could read the data.',
      'This cannot be undone. A user who owns clients cannot be erased: delete the clients first.',
      ...(about.fourEyes ? [SECOND_ADMIN] : []),
    ],
    notice: 'user_erased',
    goTo: USERS_PATH,
    work: ({ actions }, id, { actor }) => actions.run('user.erase', id, {}, actor),
  },
};

export const USER_ACTION_CONTROLLERS = confirmedActions(
  { path: 'users', param: 'id', subjects: UserSubjects },
  USER_ACTIONS,
);
