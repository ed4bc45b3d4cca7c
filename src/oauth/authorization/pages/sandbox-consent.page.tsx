import { FormFields, SelectField } from '../../../web/forms/field.js';
import { PostForm } from '../../../web/forms/form.js';
import type { ClientIdentity } from '../../../web/layout/client-identity.js';
import type { LayoutProps } from '../../../web/layout/layout.js';
import { SandboxBadge } from '../../../web/layout/sandbox-badge.js';
import { ConsentHeading, DecisionButtons, Host, ScopeList, type ConsentScope } from './consent.page.js';

interface SandboxConsentPageProps {
  clientName: string;
  identity: ClientIdentity;
  drivers: { id: string; label: string }[];
  /** Whether the visitor is a member, and so sees the drivers' names. */
  showsNames: boolean;
  /** Where to log in to see them; undefined for someone who is logged in. */
  login: string | undefined;
  scopes: ConsentScope[];
  /** Opaque string that is posted back. */
  request: string;
  /** Host the browser is sent to after either decision. */
  redirectHost: string;
}

/** Asks which driver of the sandbox consents; it needs no account. */
export function sandboxConsentPage(props: SandboxConsentPageProps): LayoutProps {
  const { clientName, drivers, showsNames, login, scopes, request, redirectHost } = props;
  return {
    title: 'Authorize an application',
    children: (
      <>
        <ConsentHeading clientName={clientName} identity={props.identity} whose="a driver’s">
          <p class="centred">
            <SandboxBadge of={{ environment: 'sandbox' }} />
          </p>
        </ConsentHeading>
        <p>
          This application is in a sandbox: its drivers and their data are invented. Nobody logs in. Choose
          the driver who answers.
        </p>
        <ScopeList scopes={scopes} alreadyConsented={[]} />
        <PostForm action="/o/authorize/" hidden={{ request }}>
          {drivers.length === 0 ? (
            <>
              <p class="notice">There is no driver in this sandbox yet. Create one to go on.</p>
              <DecisionButtons value="create_driver" label="Create driver" />
            </>
          ) : (
            <>
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
        <p class="fine-print">
          If you authorize or cancel, your browser then goes to <Host name={redirectHost} />.
        </p>
      </>
    ),
  };
}
