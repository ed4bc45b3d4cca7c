import type { UserEntity } from '../../../users/user.entity.js';
import { COUNTED_UP_TO } from '../clients/client-ending.page.js';
import type { FieldErrors } from '../form-attempt.js';
import type { ConsoleFrame } from '../pages/console-layout.js';
import { counted, Ending } from '../pages/ending.js';
import { renderUserPage, userPath } from './user-frame.js';

export type UserEnding = 'disable' | 'revoke' | 'make-operator' | 'unmake-operator' | 'erase';

export interface UserEndingPageProps {
  frame: ConsoleFrame;
  user: UserEntity;
  ending: UserEnding;
  grants: number;
  /** Whether it is the operator's own account. */
  isSelf: boolean;
  csrfToken: string;
  errors?: FieldErrors;
}

interface Words {
  title: string;
  question: string;
  consequences: (grants: string) => string[];
}

const WORDS: Record<UserEnding, Words> = {
  disable: {
    title: 'Disable the user',
    question: 'Disable',
    consequences: (grants) => [
      'The user is signed out everywhere and cannot sign in.',
      `Every token that rests on the account ends at once: ${grants}. Enabling it again revives none.`,
      'The tokens that the clients of this owner have in their own name end too.',
      'Consents stay, but count for nothing while the account is disabled.',
    ],
  },
  revoke: {
    title: 'Revoke all tokens',
    question: 'Revoke every token and grant of',
    consequences: (grants) => [
      `Every application loses its access at once: ${grants}. Each has to send the user here again.`,
      'The user stays signed in here, and consents stay.',
    ],
  },
  'make-operator': {
    title: 'Make an operator',
    question: 'Give the console to',
    consequences: () => [
      'An operator sees every client, user, delivery and the audit trail.',
      'An operator can change and delete all of them, and make other operators.',
    ],
  },
  'unmake-operator': {
    title: 'Take the operator role away',
    question: 'Take the console from',
    consequences: () => ['The user can no longer open the console, from this moment on. All else stays.'],
  },
  erase: {
    title: 'Erase the person',
    question: 'Erase',
    consequences: (grants) => [
      `Account, sessions, consents and notifications are deleted, and ${grants} with all of their tokens.`,
      'Of the audit trail the id alone is left.',
      'It cannot be undone. Who owns clients cannot be erased: delete those first.',
    ],
  },
};

/** What follows, before a user is disabled or erased, loses all tokens, or gets another role. */
export function userEndingPage(props: UserEndingPageProps): string {
  const { frame, user, ending, grants, isSelf, csrfToken, errors } = props;
  const { title, question, consequences } = WORDS[ending];
  const listed = consequences(counted(grants, COUNTED_UP_TO, 'grant'));
  return renderUserPage({
    frame,
    user,
    title,
    children: (
      <Ending
        question={
          <>
            {question} <bdi class="name">{user.name}</bdi>?
          </>
        }
        consequences={isSelf ? ['This is your own account.', ...listed] : listed}
        action={userPath(user.id, ending)}
        csrfToken={csrfToken}
        submit={title}
        back={userPath(user.id)}
        errors={errors}
      />
    ),
  });
}
