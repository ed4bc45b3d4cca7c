import type { ComponentChildren, VNode } from 'preact';
import { PostForm } from '../../../web/forms/form.js';
import { ClientDetails, ClientTile, type ClientIdentity } from '../../../web/layout/client-identity.js';
import { SignedInAs, type LayoutProps } from '../../../web/layout/layout.js';

export interface ConsentScope {
  name: string;
  /** What the scope lets the application read, in plain words for a driver. */
  description: string;
}

export interface ConsentPageProps {
  clientName: string;
  /** What else is known of the application. */
  identity: ClientIdentity;
  /** The logged-in user owns the application, so it can also open the webhook portal with this authorization. */
  clientIsOwned: boolean;
  user: { name: string; email: string };
  scopes: ConsentScope[];
  /** Names of the scopes that this user consented to before. */
  alreadyConsented: string[];
  /** Opaque string that is posted back. */
  request: string;
  /** Path to come back to after switching to another user. */
  returnTo: string;
  /** Host the browser is sent to after either decision. */
  redirectHost: string;
}

/** Asks the logged-in user whether an application may read their data. */
export function consentPage(props: ConsentPageProps): LayoutProps {
  const { clientName, clientIsOwned, user, returnTo, redirectHost } = props;
  return {
    title: 'Authorize an application',
    children: (
      <>
        <ConsentHeading clientName={clientName} identity={props.identity} whose="your" />
        <SignedInAs {...user} />
        <PostForm action="/logout" class="switch-user" hidden={{ return_to: returnTo }}>
          <p>
            Not <bdi>{user.name}</bdi>?{' '}
            <button type="submit" class="link-button">
              Log out
            </button>{' '}
            and log in as someone else.
          </p>
        </PostForm>
        <ScopeList {...props} />
        {clientIsOwned && (
          <p class="notice">
            <strong>This application is yours.</strong> If you authorize it, it can also open the webhook
            portal for <bdi>{clientName}</bdi>.
          </p>
        )}
        <DecisionForm {...props} />
        <p class="fine-print">
          Either way, your browser then goes to <Host name={redirectHost} />. If you cancel, nothing new is
          shared. If you authorize, you can disconnect the application at any time.
        </p>
      </>
    ),
  };
}

/** Who asks, and whose data it is about; with what stands between the two. */
export const ConsentHeading = (props: {
  clientName: string;
  identity: ClientIdentity;
  whose: string;
  children?: ComponentChildren;
}): VNode => (
  <>
    <div class="client-tile">
      <ClientTile name={props.clientName} logoId={props.identity.logoId} />
    </div>
    {props.children}
    <h1 class={props.clientName.length > 48 ? 'centred long' : 'centred'}>
      Let <bdi class="name">{props.clientName}</bdi> read {props.whose} charging data?
    </h1>
    <ClientDetails of={props.identity} class="centred" />
  </>
);

export const Host = ({ name }: { name: string }): VNode => (
  <bdi class="host" dir="ltr">
    {name}
  </bdi>
);

export function ScopeList({
  scopes,
  alreadyConsented,
}: Pick<ConsentPageProps, 'scopes' | 'alreadyConsented'>): VNode {
  if (scopes.length === 0) return <p>It does not ask for any data.</p>;
  return (
    <>
      <h2 id="scopes-heading">Requested access</h2>
      {/* Safari drops list semantics from lists without markers unless the role is given. */}
      <ul class="scopes" role="list" aria-labelledby="scopes-heading">
        {scopes.map((scope) => (
          <li>
            <svg
              class="scope-icon"
              viewBox="0 0 20 20"
              width="20"
              height="20"
              aria-hidden="true"
              focusable="false"
            >
              <path
                d="m5 10.5 3.4 3.4L15.5 6.6"
                fill="none"
                stroke-width="2"
                stroke-linecap="round"
                stroke-linejoin="round"
              />
            </svg>
            <div class="scope-text">
              <span class="scope-description">{scope.description}</span>{' '}
              <span class="scope-meta">
                <code>{scope.name}</code>{' '}
                {alreadyConsented.includes(scope.name) && <span class="badge">Already authorized</span>}
              </span>
            </div>
          </li>
        ))}
      </ul>
    </>
  );
}

/** Both decisions in one form. */
function DecisionForm({ request }: ConsentPageProps): VNode {
  return (
    <PostForm action="/o/authorize/" hidden={{ request }}>
      <DecisionButtons />
    </PostForm>
  );
}

/**
 * Authorize is the visually primary button, but Cancel comes first in the DOM: browsers press the
 * first submit button by default, and access must only be given by a deliberate click.
 */
export const DecisionButtons = ({ value = 'authorize', label = 'Authorize' }): VNode => (
  <div class="actions actions-pair">
    <button type="submit" class="quiet" name="decision" value="cancel">
      Cancel
    </button>
    <button type="submit" name="decision" value={value}>
      {label}
    </button>
  </div>
);
