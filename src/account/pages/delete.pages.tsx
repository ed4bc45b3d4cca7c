import type { VNode } from 'preact';
import type { ConnectedClient } from '../../tokens/grants/connected-client.js';
import type { ErasureObstacle } from '../../users/accounts/user-erasures.js';
import { Confirmation } from '../../web/forms/confirmation.js';
import { TextField, type FieldErrors } from '../../web/forms/field.js';
import { LinkButton, PostButton } from '../../web/forms/form.js';
import type { LayoutProps } from '../../web/layout/layout.js';
import { messagePage } from '../../web/layout/message.page.js';
import { ErrorNotice } from '../../web/layout/notices.js';
import { Moment } from '../../web/tables/moment.js';
import type { AccountPage } from './account-layout.js';

export const DELETE_PATH = '/account/delete';
const KEEP_PATH = '/account/delete/keep';
export const DELETED_PATH = '/account-deleted';

const TITLE = 'Delete account';

/** When the account will be deleted, and the way back. */
export const DeletionNotice = ({ dueAt }: { dueAt: Date }): VNode => (
  <div class="notice">
    <p>
      Your account will be deleted on <Moment at={dueAt} />, as you asked. Until then you can keep it.
    </p>
    <PostButton action={KEEP_PATH}>Keep my account</PostButton>
  </div>
);

/** What has to end first, in words for drivers. */
const OBSTACLES: Record<ErasureObstacle, string> = {
  operator:
    'You are an operator. Ask an admin to take that role from you first. Then you can delete your account here.',
  owns_clients:
    'Your account owns applications of partners, which would stop working. Ask us to delete them first. Then you can delete your account here.',
};

/** Says what has to end before the account can be deleted. */
export const obstaclePage = (obstacle: ErasureObstacle): AccountPage => ({
  title: TITLE,
  part: 'leaving',
  children: (
    <>
      <ErrorNotice>Your account cannot be deleted yet.</ErrorNotice>
      <p>{OBSTACLES[obstacle]}</p>
      <div class="buttons">
        <LinkButton look="quiet" href="/account">
          Back to your account
        </LinkButton>
      </div>
    </>
  ),
});

/** Says that the deletion waits. */
export const deletionPage = (dueAt: Date): AccountPage => ({
  title: TITLE,
  part: 'leaving',
  children: (
    <>
      <DeletionNotice dueAt={dueAt} />
      <p>
        Nothing has changed yet: you can log in, and connected applications can read your data until then.
      </p>
    </>
  ),
});

export interface DeletePageProps {
  email: string;
  /** The first of the connected applications. */
  applications: ConnectedClient[];
  hasMore: boolean;
  /** How long the account can be kept after all. */
  days: number;
  withExport: boolean;
  errors?: FieldErrors;
}

/** What the deletion means, with the field and the button for it. It posts `email`. */
export const deletePage = (props: DeletePageProps): AccountPage => ({
  title: TITLE,
  part: 'leaving',
  children: (
    <Confirmation
      question="Do you want to delete your account?"
      heading="What happens"
      consequences={consequencesOf(props)}
      action={DELETE_PATH}
      class="narrow-form"
      errors={props.errors}
      alert="Nothing was deleted. See the error below."
      submit={TITLE}
      isDanger
      cancel="/account"
      keep="Keep my account"
    >
      <TextField
        name="email"
        label="Your email address"
        type="email"
        autocomplete="off"
        spellcheck={false}
        hint={`To make sure that you mean it, enter ${props.email}`}
        required
      />
    </Confirmation>
  ),
});

function consequencesOf({ applications, hasMore, days, withExport }: DeletePageProps) {
  return [
    days === 0
      ? 'Your account is deleted at once. This cannot be undone.'
      : `You can change your mind for ${days === 1 ? 'one day' : `${days} days`}. After that your account is deleted, which cannot be undone.`,
    applications.length === 0 ? (
      'No application can read your data now.'
    ) : (
      <>
        These applications lose access and are told that you left: <Names applications={applications} />
        {hasMore && ' and more'}.
      </>
    ),
    'What applications have read before stays with them. Ask them to delete it.',
    'Your name, your addresses, your sessions, notifications and agreements are deleted here, and so is the data that was sent to applications.',
    'We keep, without your name and address, that there was an account, what was done with it and when: for a year, to be able to account for it. Applications are told of you by the ID of your account only.',
    ...(withExport
      ? [
          <>
            If you want to keep a copy, <a href="/account/export">download your data</a> first.
          </>,
        ]
      : []),
  ];
}

const Names = ({ applications }: Pick<DeletePageProps, 'applications'>): VNode => (
  <>
    {applications.map(({ name }, n) => (
      <>
        {n > 0 && ', '}
        <bdi>{name}</bdi>
      </>
    ))}
  </>
);

/** After an account was deleted at once. */
export const deletedPage = (): LayoutProps =>
  messagePage({
    title: 'Account deleted',
    heading: 'Your account was deleted',
    text: 'You are logged out everywhere, and no application can read your data through this service any more.',
    action: { href: '/', label: 'Go to the start page' },
  });
