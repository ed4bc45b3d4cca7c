import type { VNode } from 'preact';
import { say } from '#platform/language/text.js';
import type { ConnectedClient } from '#access/tokens/grants/grant.js';
import type { ErasureObstacle } from '#access/domain/domain-questions.js';
import { Confirmation } from '#platform/web/forms/confirmation.js';
import { TextField, type FieldErrors } from '#platform/web/forms/field.js';
import { LinkButton, PostButton } from '#platform/web/forms/form.js';
import type { LayoutProps } from '#platform/web/layout/layout.js';
import { ErrorNotice } from '#platform/web/layout/notices.js';
import { Say, useText } from '#platform/web/layout/say.js';
import { Moment } from '#platform/web/tables/moment.js';
import type { AccountPage } from './account-layout.js';
import { linkTo } from './message-parts.js';

export const DELETE_PATH = '/account/delete';
const KEEP_PATH = '/account/delete/keep';
export const DELETED_PATH = '/account-deleted';

const TITLE = say('Delete account');

/** When the account will be deleted, and how to keep it. */
export function DeletionNotice({ dueAt }: { dueAt: Date }): VNode {
  const t = useText();
  return (
    <div class="notice">
      <p>
        <Say
          it="Your account will be deleted on {moment}, as you asked. Until then you can keep it."
          with={{ moment: <Moment at={dueAt} /> }}
        />
      </p>
      <PostButton action={KEEP_PATH}>{t('Keep my account')}</PostButton>
    </div>
  );
}

/** What has to end first, in words for drivers. */
const OBSTACLES: Record<ErasureObstacle, string> = {
  operator: say(
    'You are an operator. Ask an admin to take that role from you first. Then you can delete your account here.',
  ),
  owns_clients: say(
    'Your account owns applications of partners, which would stop working. Ask us to delete them first. Then you can delete your account here.',
  ),
};

/** Says what has to end before the account can be deleted. */
export const obstaclePage = (obstacle: ErasureObstacle): AccountPage => ({
  title: TITLE,
  part: 'leaving',
  children: <Obstacle of={obstacle} />,
});

function Obstacle({ of: obstacle }: { of: ErasureObstacle }): VNode {
  const t = useText();
  return (
    <>
      <ErrorNotice>{t('Your account cannot be deleted yet.')}</ErrorNotice>
      <p>{t(OBSTACLES[obstacle])}</p>
      <div class="buttons">
        <LinkButton look="quiet" href="/account">
          {t('Back to your account')}
        </LinkButton>
      </div>
    </>
  );
}

/** Says that the deletion waits. */
export const deletionPage = (dueAt: Date): AccountPage => ({
  title: TITLE,
  part: 'leaving',
  children: (
    <>
      <DeletionNotice dueAt={dueAt} />
      <p>
        <Say it="Nothing has changed yet: you can log in, and connected applications can read your data until then." />
      </p>
    </>
  ),
});

export interface DeletePageProps {
  email: string;
  /** The first of the connected applications. */
  applications: ConnectedClient[];
  hasMore: boolean;
  /** For how long the user can still keep the account. */
  days: number;
  errors?: FieldErrors;
}

/** What the deletion means, with the field and the button for it. It posts `email`. */
export const deletePage = (props: DeletePageProps): AccountPage => ({
  title: TITLE,
  part: 'leaving',
  children: <Delete {...props} />,
});

function Delete(props: DeletePageProps): VNode {
  const t = useText();
  return (
    <Confirmation
      question={t('Do you want to delete your account?')}
      heading={t('What happens')}
      consequences={consequencesOf(props)}
      action={DELETE_PATH}
      class="narrow-form"
      errors={props.errors}
      alert={t('Nothing was deleted. See the error below.')}
      submit={t(TITLE)}
      isDanger
      cancel="/account"
      keep={t('Keep my account')}
    >
      <TextField
        name="email"
        label={t('Your email address')}
        inputMode="email"
        autocomplete="off"
        spellcheck={false}
        hint={t('To make sure that you mean it, enter {email}', { email: props.email })}
        required
      />
    </Confirmation>
  );
}

const consequencesOf = ({ applications, hasMore, days }: DeletePageProps): VNode[] => [
  days === 0 ? (
    <Say it="Your account is deleted at once. This cannot be undone." />
  ) : (
    <Say
      it="You can change your mind for {days, plural, one {one day} other {# days}}. After that your account is deleted, which cannot be undone."
      with={{ days }}
    />
  ),
  applications.length === 0 ? (
    <Say it="No application can read your data now." />
  ) : hasMore ? (
    <Say
      it="These applications lose access and are told that you left: {names} and more."
      with={{ names: <Names applications={applications} /> }}
    />
  ) : (
    <Say
      it="These applications lose access and are told that you left: {names}."
      with={{ names: <Names applications={applications} /> }}
    />
  ),
  <Say it="What applications have read before stays with them. Ask them to delete it." />,
  <Say it="Your name, your addresses, your sessions and notifications are deleted here, and so is the data that was sent to applications." />,
  <Say it="To be able to account for it, we keep without your name and address: for up to 13 months, that there was an account, what was done with it and when; and for five years after the end of each agreement, what you had agreed to share. Applications that are told of it get only the ID of your account." />,
  <Say
    it="If you want to keep a copy, <export>download your data</export> first."
    with={{ export: linkTo('/account/export') }}
  />,
];

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

/** After an account was deleted without a waiting period. */
export const deletedPage = (): LayoutProps => ({
  title: say('Account deleted'),
  isTranslated: true,
  children: <Deleted />,
});

function Deleted(): VNode {
  const t = useText();
  return (
    <>
      <h1>{t('Your account was deleted')}</h1>
      <p>
        {t(
          'You are logged out everywhere, and no application can read your data through this service any more.',
        )}
      </p>
      <p class="actions">
        <LinkButton href="/">{t('Go to the start page')}</LinkButton>
      </p>
    </>
  );
}
