import type { OptionalMailKind } from '../../mail/mail.entity.js';
import { Choices } from '../../web/forms/field.js';
import { PageForm, PostForm } from '../../web/forms/form.js';
import { ErrorNotice } from '../../web/layout/notices.js';
import { Facts } from '../../web/tables/facts.js';
import { Moment } from '../../web/tables/moment.js';
import { State } from '../../web/tables/state.js';
import type { AccountPage } from './account-layout.js';

export interface AccountEmailPageProps {
  email: string;
  emailVerifiedAt: Date | null;
  wanted: OptionalMailKind[];
  isMailOn: boolean;
  /** Too many links were asked for. */
  isOverLimit: boolean;
}

const PATH = '/account/email';

const KINDS: { value: OptionalMailKind; label: string }[] = [
  { value: 'application_connected', label: 'When an application was connected to my account' },
  { value: 'actionable', label: 'When something needs my attention' },
];

/** The address of the account, and which mails go to it. */
export const accountEmailPage = (props: AccountEmailPageProps): AccountPage => ({
  title: 'Email',
  part: 'email',
  children: (
    <>
      {props.isOverLimit && (
        <ErrorNotice>
          Nothing was sent, because too many mails were sent to your address. Try again in an hour.
        </ErrorNotice>
      )}
      <Facts
        facts={[
          ['Address', <bdi>{props.email}</bdi>],
          [
            'State',
            props.emailVerifiedAt ? (
              <>
                <State tone="good">Confirmed</State> <Moment at={props.emailVerifiedAt} />
              </>
            ) : (
              <State tone="warn">Not confirmed</State>
            ),
          ],
        ]}
      />
      {!props.emailVerifiedAt && props.isMailOn && (
        <>
          <p>Until you confirm it with the link that we mail you, no other mail is sent to this address.</p>
          <PostForm action={PATH} hidden={{ do: 'send_link' }}>
            <div class="buttons">
              <button type="submit">Send link</button>
            </div>
          </PostForm>
        </>
      )}
      <h2>Mails</h2>
      <p>
        {props.isMailOn
          ? 'You always get mail about the security of your account. Choose what else you want to know.'
          : 'This service sends no mail at the moment. Your choice is kept.'}
      </p>
      <PageForm action={PATH} hidden={{ do: 'choose' }} values={{ wanted: props.wanted }} submit="Save">
        <Choices type="checkbox" name="wanted" label="Mail me" options={KINDS} />
      </PageForm>
    </>
  ),
});
