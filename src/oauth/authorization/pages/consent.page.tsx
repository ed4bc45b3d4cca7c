import type { ComponentChildren, VNode } from 'preact';
import { NeededAccess, OptionalAccess, ScopeNames, WhatFor } from '../../../consents/pages/access-choice.js';
import type { ConsentWords } from '../../../consents/record/consent-words.js';
import { PostForm } from '../../../web/forms/form.js';
import { InitialTile, SignedInAs, type LayoutProps } from '../../../web/layout/layout.js';
import { Named } from '../../../web/layout/named.js';

export interface ConsentPageProps {
  /** What the page says; kept with the consent. */
  words: ConsentWords;
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
  /** Why the page is shown again. */
  problem?: string;
}

/** Asks the logged-in user whether an application may read their data. */
export function consentPage(props: ConsentPageProps): LayoutProps {
  const { words, shown, user, alreadyConsented: given, request, returnTo, redirectHost, problem } = props;
  const { access } = words;
  return {
    title: 'Authorize an application',
    children: (
      <>
        <ConsentHeading words={words} />
        {problem && (
          <p class="notice" role="alert">
            {problem}
          </p>
        )}
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
        <NeededAccess access={access} given={given} />
        <WhatFor purposes={words.purposes} />
        {/* Both decisions in one form. */}
        <PostForm action="/o/authorize/" hidden={{ request, words: shown }}>
          <OptionalAccess access={access} given={given} />
          <DecisionButtons />
        </PostForm>
        <ConsentNotes words={words} redirectHost={redirectHost} />
        <ScopeNames access={access} />
      </>
    ),
  };
}

/** Who asks, and whose data it is about; with what stands between the two. */
export const ConsentHeading = ({
  words: { application, heading },
  children,
}: {
  words: ConsentWords;
  children?: ComponentChildren;
}): VNode => (
  <>
    <div class="client-tile">
      <InitialTile name={application} kind="application" />
    </div>
    {children}
    <h1 class={application.length > 48 ? 'centred long' : 'centred'}>
      <Named text={heading} name={application} show={(name) => <bdi class="name">{name}</bdi>} />
    </h1>
  </>
);

/** For how long, and where the browser goes. */
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
export const DecisionButtons = ({ value = 'authorize', label = 'Authorize' }): VNode => (
  <div class="actions actions-pair decision">
    <button type="submit" class="quiet" name="decision" value="cancel">
      Cancel
    </button>
    <button type="submit" name="decision" value={value}>
      {label}
    </button>
  </div>
);
