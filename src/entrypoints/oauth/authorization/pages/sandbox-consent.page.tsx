import { NeededAccess, OptionalAccess, ScopeNames } from '#access/consents/pages/access-choice.js';
import type { ConsentWords } from '#access/consents/record/consent-words.js';
import { FormFields, SelectField } from '#platform/web/forms/field.js';
import { PostForm } from '#platform/web/forms/form.js';
import type { ClientIdentity } from '#platform/web/layout/client-identity.js';
import type { LayoutProps } from '#platform/web/layout/layout.js';
import { SandboxBadge } from '#platform/web/layout/sandbox-badge.js';
import { ConsentHeading, ConsentNotes, DecisionButtons } from './consent.page.js';

interface SandboxConsentPageProps {
  /** The words of the page, which are stored with the consent. */
  words: ConsentWords;
  identity: ClientIdentity;
  /** The digest of the words, which is posted back. */
  shown: string;
  drivers: { id: string; label: string }[];
  /** Whether the visitor is a member and may see the drivers' names. */
  showsNames: boolean;
  /** Where to log in to see them; undefined if logged in. */
  login: string | undefined;
  /** Opaque string that is posted back. */
  request: string;
  /** Host the browser is sent to after either decision. */
  redirectHost: string;
  /** Why the page is shown again. */
  problem?: string;
}

/** Asks which driver of the sandbox consents; it needs no account. */
export function sandboxConsentPage(props: SandboxConsentPageProps): LayoutProps {
  const { words, shown, drivers, showsNames, login, request, redirectHost, problem } = props;
  const { access } = words;
  return {
    title: 'Authorize an application',
    children: (
      <>
        <ConsentHeading words={words} identity={props.identity}>
          <p class="centred">
            <SandboxBadge of={{ environment: 'sandbox' }} />
          </p>
        </ConsentHeading>
        <p>
          This application is in a sandbox: its drivers and their data are invented. Nobody logs in. Choose
          the driver who answers.
        </p>
        {problem && (
          <p class="notice" role="alert">
            {problem}
          </p>
        )}
        <PostForm action="/o/authorize/" hidden={{ request, words: shown }}>
          <NeededAccess access={access} given={[]} />
          {drivers.length === 0 ? (
            <>
              <p class="notice">There is no driver in this sandbox yet. Create one to go on.</p>
              <DecisionButtons value="create_driver" label="Create driver" />
            </>
          ) : (
            <>
              <OptionalAccess access={access} given={[]} />
              <FormFields values={{ driver: drivers[0]!.id }}>
                <SelectField
                  name="driver"
                  label="Driver"
                  options={drivers.map(({ id, label }) => ({ value: id, label }))}
                />
              </FormFields>
              {!showsNames && (
                <p class="fine-print">
                  Members of the organisation see the drivers’ names.{' '}
                  {login && <a href={login}>Log in to see them</a>}
                </p>
              )}
              <DecisionButtons />
            </>
          )}
        </PostForm>
        <ConsentNotes words={words} redirectHost={redirectHost} />
        <ScopeNames access={access} />
      </>
    ),
  };
}
