import type { ComponentChildren, VNode } from 'preact';
import {
  NeededAccess,
  OptionalAccess,
  ScopeNames,
  WhatForLine,
} from '#access/consents/pages/access-choice.js';
import type { ConsentWords } from '#access/consents/record/consent-words.js';
import { PostForm } from '#platform/web/forms/form.js';
import { ClientDetails, ClientTile, type ClientIdentity } from '#platform/web/layout/client-identity.js';
import { say } from '#platform/language/text.js';
import { SignedInAs, type LayoutProps, type Reader } from '#platform/web/layout/layout.js';
import { Say, useText } from '#platform/web/layout/say.js';
import { Named } from '#platform/web/layout/named.js';

export interface ConsentPageProps {
  /** The words of the page, which are stored with the consent. */
  words: ConsentWords;
  /** Other facts about the application. */
  identity: ClientIdentity;
  /** The digest of the words, which is posted back. */
  shown: string;
  user: { name: string; email: string };
  /** Names of the scopes that this user consented to before. */
  alreadyConsented: string[];
  /** Opaque string that is posted back. */
  request: string;
  /** Path to come back to after switching to another user. */
  returnTo: string;
  /** Host the browser is sent to after either decision. */
  redirectHost: string;
  reader: Reader;
  /** Why the page is shown again. */
  problem?: string;
}

/** Asks the logged-in user whether an application may read their data. */
export const consentPage = (props: ConsentPageProps): LayoutProps => ({
  title: say('Authorize an application'),
  isTranslated: true,
  reader: props.reader,
  children: <Consent {...props} />,
});

function Consent({
  words,
  identity,
  shown,
  user,
  alreadyConsented: given,
  request,
  returnTo,
  redirectHost,
  problem,
}: ConsentPageProps): VNode {
  const t = useText();
  const { access } = words;
  return (
    <>
      <ConsentHeading words={words} identity={identity} />
      {problem && (
        <p class="notice" role="alert">
          {t(problem)}
        </p>
      )}
      <SignedInAs {...user} />
      <PostForm action="/logout" class="switch-user" hidden={{ return_to: returnTo }}>
        <p>
          <Say
            it="Not <name>{user}</name>? <out>Log out</out> and log in as someone else."
            with={{
              user: user.name,
              name: (name) => <bdi>{name}</bdi>,
              out: (label) => (
                <button type="submit" class="link-button">
                  {label}
                </button>
              ),
            }}
          />
        </p>
      </PostForm>
      {/* Both decisions in one form with what they are about, so that they can stay in sight. */}
      <PostForm action="/o/authorize/" hidden={{ request, words: shown }}>
        <NeededAccess access={access} given={given} />
        <OptionalAccess access={access} given={given} />
        <DecisionButtons />
      </PostForm>
      <ConsentNotes words={words} redirectHost={redirectHost} />
      <ScopeNames access={access} />
    </>
  );
}

/** Shows who asks for access, and to whose data. */
export const ConsentHeading = ({
  words: { application, heading, purposes },
  identity,
  children,
}: {
  words: ConsentWords;
  identity: ClientIdentity;
  children?: ComponentChildren;
}): VNode => (
  <>
    <div class="client-tile">
      <ClientTile name={application} logoId={identity.logoId} />
    </div>
    {children}
    <h1 class={application.length > 48 ? 'centred long' : 'centred'}>
      <Named text={heading} name={application} show={(name) => <bdi class="name">{name}</bdi>} />
    </h1>
    <WhatForLine purposes={purposes} />
    <ClientDetails of={identity} class="centred" />
  </>
);

/** How long the consent lasts, and where the browser goes next. */
export const ConsentNotes = (props: { words: ConsentWords; redirectHost: string }): VNode => (
  <>
    {props.words.notes.map((note) => (
      <p class="fine-print">
        <Named text={note} name={props.redirectHost} show={(name) => <Host name={name} />} />
      </p>
    ))}
  </>
);

const Host = ({ name }: { name: string }): VNode => (
  <bdi class="host" dir="ltr">
    {name}
  </bdi>
);

/**
 * Authorize is the visually primary button, but Cancel comes first in the DOM: browsers press the
 * first submit button by default, and access must only be given by a deliberate click.
 */
export function DecisionButtons({
  value = 'authorize',
  label = say('Authorize'),
}: {
  value?: string;
  label?: string;
}): VNode {
  const t = useText();
  return (
    <div class="actions actions-pair decision">
      <button type="submit" class="quiet" name="decision" value="cancel">
        {t('Cancel')}
      </button>
      <button type="submit" name="decision" value={value}>
        {t(label)}
      </button>
    </div>
  );
}
