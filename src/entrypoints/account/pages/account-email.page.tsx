import type { VNode } from 'preact';
import { say } from '#platform/language/text.js';
import type { OptionalMailKind } from '#records/mail/mail.entity.js';
import { Choices } from '#platform/web/forms/field.js';
import { PageForm, PostForm } from '#platform/web/forms/form.js';
import { ErrorNotice } from '#platform/web/layout/notices.js';
import { useText } from '#platform/web/layout/say.js';
import { Facts } from '#platform/web/tables/facts.js';
import { Moment } from '#platform/web/tables/moment.js';
import { State } from '#platform/web/tables/state.js';
import type { AccountPage } from './account-layout.js';

export interface AccountEmailPageProps {
  email: string;
  emailVerifiedAt: Date | null;
  wanted: OptionalMailKind[];
  isMailOn: boolean;
  /** Too many links were requested. */
  isOverLimit: boolean;
}

const PATH = '/account/email';

const KINDS: { value: OptionalMailKind; label: string }[] = [
  { value: 'application_connected', label: say('When an application was connected to my account') },
  { value: 'actionable', label: say('When something needs my attention') },
];

/** The address of the account, and which mails go to it. */
export const accountEmailPage = (props: AccountEmailPageProps): AccountPage => ({
  title: say('Email'),
  part: 'notifications',
  children: <Email {...props} />,
});

function Email(props: AccountEmailPageProps): VNode {
  const t = useText();
  return (
    <>
      {props.isOverLimit && (
        <ErrorNotice>
          {t('Nothing was sent, because too many mails were sent to your address. Try again in an hour.')}
        </ErrorNotice>
      )}
      <Facts
        facts={[
          [t('Address'), <bdi>{props.email}</bdi>],
          [
            t('State'),
            props.emailVerifiedAt ? (
              <>
                <State tone="good">{t('Confirmed')}</State> <Moment at={props.emailVerifiedAt} />
              </>
            ) : (
              <State tone="warn">{t('Not confirmed')}</State>
            ),
          ],
        ]}
      />
      {!props.emailVerifiedAt && props.isMailOn && (
        <>
          <p>
            {t('Until you confirm it with the link that we mail you, no other mail is sent to this address.')}
          </p>
          <PostForm action={PATH} hidden={{ do: 'send_link' }}>
            <div class="buttons">
              <button type="submit">{t('Send link')}</button>
            </div>
          </PostForm>
        </>
      )}
      <h2>{t('Mails')}</h2>
      <p>
        {props.isMailOn
          ? t('You always get mail about the security of your account. Choose what else you want to know.')
          : t('This service sends no mail at the moment. Your choice is kept.')}
      </p>
      <PageForm
        action={PATH}
        hidden={{ do: 'choose' }}
        values={{ wanted: props.wanted }}
        submit={t('Save')}
        isQuiet={!props.emailVerifiedAt && props.isMailOn}
      >
        <Choices
          type="checkbox"
          asSwitches
          name="wanted"
          label={t('Mail me')}
          options={KINDS.map(({ value, label }) => ({ value, label: t(label) }))}
        />
      </PageForm>
    </>
  );
}
