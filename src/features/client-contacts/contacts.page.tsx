import { TextField } from '#platform/web/forms/field.js';
import { PageForm, PostForm } from '#platform/web/forms/form.js';
import { State } from '#platform/web/tables/state.js';
import { CONTACTS_PER_CLIENT } from './contacts.service.js';
import { PORTAL_PARTS, type PortalPage } from '#entrypoints/webhook-portal/frame/portal-layout.js';

export interface ContactsPageProps {
  contacts: { id: string; email: string; verifiedAt: Date | null }[];
  isMailOn: boolean;
  /** What was typed, and what is wrong with it. */
  email?: string;
  error?: string;
}

/** The path of the page. */
export const CONTACTS_PATH = '/portal/contacts';

const PART = PORTAL_PARTS.add(
  'Webhooks',
  { part: 'contacts', icon: 'contact-round', href: CONTACTS_PATH, label: 'Contacts' },
  'deliveries',
);

/** The contacts of the client, and the form for another one. */
export const contactsPage = ({ contacts, isMailOn, email, error }: ContactsPageProps): PortalPage => ({
  title: 'Contacts',
  part: PART,
  children: (
    <>
      <p>
        {isMailOn
          ? 'Contacts get a mail when an endpoint is failing, at most once a day for each endpoint, and when it was disabled. They also get one, at most once a day, when consents of your users will soon end.'
          : 'This service sends no mail at the moment, so nothing is sent to contacts.'}
      </p>
      {contacts.length === 0 ? (
        <p class="empty">There are no contacts yet. Add the address of the people who run your endpoints.</p>
      ) : (
        <ul class="entries" role="list">
          {contacts.map((contact) => (
            <li>
              <h2>
                <bdi>{contact.email}</bdi>
              </h2>
              <p>
                {contact.verifiedAt ? (
                  <State tone="good">Confirmed</State>
                ) : (
                  <State tone="warn">Waiting for confirmation</State>
                )}
              </p>
              <PostForm action={`${CONTACTS_PATH}/${contact.id}`} class="entry-actions">
                {!contact.verifiedAt && isMailOn && (
                  <button type="submit" class="quiet" name="do" value="resend">
                    Send link again<span class="visually-hidden"> to {contact.email}</span>
                  </button>
                )}
                <button type="submit" class="quiet" name="do" value="remove">
                  Remove<span class="visually-hidden"> {contact.email}</span>
                </button>
              </PostForm>
            </li>
          ))}
        </ul>
      )}
      {isMailOn && (
        <>
          <h2>Add a contact</h2>
          <PageForm
            action={CONTACTS_PATH}
            values={{ email }}
            errors={error === undefined ? {} : { email: error }}
            submit="Add contact"
            noValidate
          >
            <TextField
              name="email"
              label="Email"
              inputMode="email"
              autocomplete="off"
              spellcheck={false}
              hint={`At most ${CONTACTS_PER_CLIENT} addresses. Each has to be confirmed with a link that we mail to it.`}
              required
            />
          </PageForm>
        </>
      )}
    </>
  ),
});
