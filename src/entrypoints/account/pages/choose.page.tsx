import type { VNode } from 'preact';
import { NeededAccess, OptionalAccess, WhatFor } from '#access/consents/pages/access-choice.js';
import type { ConsentWords } from '#access/consents/record/consent-words.js';
import { say } from '#platform/language/text.js';
import { PageForm } from '#platform/web/forms/form.js';
import { Named } from '#platform/web/layout/named.js';
import { Say, useText } from '#platform/web/layout/say.js';
import { Moment } from '#platform/web/tables/moment.js';
import type { AccountPage } from './account-layout.js';

interface ChoosePageProps {
  clientId: string;
  words: ConsentWords;
  /** The digest of the words, which is posted back. */
  shown: string;
  given: readonly string[];
  /** Whether some meaning has changed since the user agreed. */
  isAskedAnew: boolean;
  expiresAt: Date | null;
  /** Whether the user came to renew it. */
  isRenewal: boolean;
  problem?: string;
}

/** Where a user changes what an application may read, comes to renew it, or to take one scope back. */
export const accessPath = (
  clientId: string,
  purpose: { renew: 'true' } | { without: string } | undefined = undefined,
): string =>
  `/account/applications/${clientId}/access${purpose ? `?${new URLSearchParams(purpose).toString()}` : ''}`;

/** Changes what an application may read, which also renews it, on one page. */
export const choosePage = (props: ChoosePageProps): AccountPage => ({
  title: props.isRenewal ? say('Renew') : say('Change access'),
  part: 'sharing',
  children: <Choose {...props} />,
});

function Choose(props: ChoosePageProps): VNode {
  const { clientId, words, shown, given, isAskedAnew, expiresAt, problem } = props;
  const t = useText();
  return (
    <>
      <p class="lead">
        <Named
          text={words.heading}
          name={words.application}
          show={(name) => <bdi class="name">{name}</bdi>}
        />
      </p>
      {problem && (
        <p class="notice" role="alert">
          {problem}
        </p>
      )}
      {isAskedAnew && (
        <p class="notice">
          {t('What we say about this access means something else than when you agreed, so we ask you again.')}
        </p>
      )}
      {expiresAt && (
        <p>
          <Say
            it="Access ends on {moment}. If you save, its time begins anew."
            with={{ moment: <Moment at={expiresAt} /> }}
          />
        </p>
      )}
      <NeededAccess access={words.access} given={[]} />
      <WhatFor purposes={words.purposes} />
      <PageForm action={accessPath(clientId)} hidden={{ words: shown }} submit={t('Save')} cancel="/account">
        <OptionalAccess access={words.access} given={given} />
      </PageForm>
      {words.notes.map((note) => (
        <p class="fine-print">{note}</p>
      ))}
    </>
  );
}
