import type { ComponentChildren, VNode } from 'preact';
import { WhatFor } from '../../consents/pages/access-choice.js';
import type { ConsentMethod } from '../../consents/consent.entity.js';
import type { ConsentWords } from '../../consents/record/consent-words.js';
import type { ConsentVersionEntity } from '../../consents/record/consent-version.entity.js';
import type { Receipt } from '../../consents/record/receipt.js';
import type { Page } from '../../database/queries/read-page.js';
import { LinkButton } from '../../web/forms/form.js';
import { Facts } from '../../web/tables/facts.js';
import { Moment } from '../../web/tables/moment.js';
import { NEXT_PREVIOUS, PagedList } from '../../web/tables/pager.js';
import type { AccountPage } from './account-layout.js';

const EVENTS = { given: 'You agreed', changed: 'What you agreed to changed', ended: 'The sharing ended' };

const METHODS: Record<ConsentMethod, string> = {
  page: 'You authorized the application on its consent page.',
  account: 'You decided it on your account page.',
  operator: 'Our staff recorded it for you.',
  sandbox: 'Someone answered for a driver in a sandbox.',
  import: 'It was brought along from another system.',
  schedule: 'Its time was over.',
  service: 'It ended together with the application or the account.',
};

const ASKED_ANEW = 'We changed what the words mean, so you are asked again.';

const howOf = (method: ConsentMethod, reason: string | null): string =>
  reason === 'words_changed' ? ASKED_ANEW : METHODS[method];

const nameOf = ({ clientName }: ConsentVersionEntity): string => clientName ?? 'An application';

/** The newest receipt of each application. */
export const receiptsPage = (versions: Page<ConsentVersionEntity>): AccountPage => ({
  title: 'Receipts',
  part: 'applications',
  children: (
    <>
      <p class="lead">
        Whenever you agree to share data, or stop sharing, we keep a receipt. These are the newest ones of
        each application.
      </p>
      <Versions page={versions} path="/account/receipts" heading={nameOf}>
        {(version) => (
          <a href={`/account/receipts/of/${version.clientId}`}>
            All receipts<span class="visually-hidden"> of {nameOf(version)}</span>
          </a>
        )}
      </Versions>
      <Back />
    </>
  ),
});

/** All receipts of one application. */
export const receiptsOfPage = (clientId: string, versions: Page<ConsentVersionEntity>): AccountPage => ({
  title: 'Receipts of an application',
  part: 'applications',
  children: (
    <>
      <p class="lead">
        What you agreed to share with{' '}
        <bdi class="name">{versions.items[0] ? nameOf(versions.items[0]) : ''}</bdi>, from the newest to the
        oldest.
      </p>
      <Versions
        page={versions}
        path={`/account/receipts/of/${clientId}`}
        heading={({ event }) => EVENTS[event]}
      />
      <Back />
    </>
  ),
});

const Versions = ({
  page,
  path,
  heading,
  children,
}: {
  page: Page<ConsentVersionEntity>;
  path: string;
  heading: (version: ConsentVersionEntity) => string;
  children?: (version: ConsentVersionEntity) => ComponentChildren;
}): VNode => (
  <PagedList
    page={page}
    path={path}
    label="More receipts"
    labels={NEXT_PREVIOUS}
    empty="There are no receipts: you have never agreed to share data through this service."
  >
    <ul class="entries" role="list">
      {page.items.map((version) => (
        <li>
          <div class="entry-head">
            <h2>
              <bdi>{heading(version)}</bdi>
            </h2>
          </div>
          <p>{howOf(version.method, version.reason)}</p>
          <Facts facts={[['Recorded', <Moment at={version.recordedAt} />]]} />
          <p class="entry-actions">
            <LinkButton look="quiet" href={`/account/receipts/${version.id}`}>
              Receipt<span class="visually-hidden"> of {nameOf(version)}</span>
            </LinkButton>
            {children?.(version)}
          </p>
        </li>
      ))}
    </ul>
  </PagedList>
);

/**
 * One receipt in words, with the file for those who want to verify it. `wordsOf` and `purposes`: the words of today, for a receipt without those
 * that were shown.
 */
export function receiptPage(
  receipt: Receipt,
  wordsOf: (scope: string) => string,
  purposes: string[],
): AccountPage {
  const { event, recipient, words } = receipt;
  const shown = words && (JSON.parse(words.text) as ConsentWords);
  return {
    title: 'Receipt',
    part: 'applications',
    children: (
      <>
        <p class="lead">
          {EVENTS[event.type as keyof typeof EVENTS]}:{' '}
          <bdi class="name">{recipient.name ?? 'an application'}</bdi>
          {recipient.organisation && (
            <>
              {' '}
              of <bdi>{recipient.organisation}</bdi>
            </>
          )}
        </p>
        <p>{howOf(event.method as ConsentMethod, event.reason)}</p>
        <Facts
          facts={[
            ['Recorded', <Moment at={new Date(event.time)} />],
            ['Agreed since', <Moment at={new Date(receipt.valid_from)} />],
            receipt.valid_until !== null && ['Holds until', <Moment at={new Date(receipt.valid_until)} />],
            receipt.ended_at !== null && ['Ended', <Moment at={new Date(receipt.ended_at)} />],
            ['Kept by', receipt.pii_controller.name],
          ]}
        />
        <h2>{event.type === 'ended' ? 'What it could read' : 'What it may read'}</h2>
        {receipt.scopes.length === 0 ? (
          <p>Nothing.</p>
        ) : (
          <ul>
            {receipt.scopes.map((scope) => (
              <li>{shown?.access.find((each) => each.scope === scope)?.words ?? wordsOf(scope)}</li>
            ))}
          </ul>
        )}
        <WhatFor purposes={shown?.purposes ?? purposes} />
        {shown && <Shown words={shown} />}
        <p>
          <LinkButton href={`/account/receipts/${receipt.record_id}/file`}>Download receipt</LinkButton>
        </p>
        <p class="fine-print">
          The file is signed, so that anyone can check that it came from us and was not changed.
        </p>
        <details class="fine-print">
          <summary>Technical details</summary>
          <Facts
            facts={[
              ['Receipt', <code>{receipt.record_id}</code>],
              receipt.replaces !== null && [
                'Replaces',
                <a href={`/account/receipts/${receipt.replaces}`}>
                  <code>{receipt.replaces}</code>
                </a>,
              ],
              ['Application', <code>{recipient.client_id}</code>],
              words && ['Digest of the words', <code>{words.digest}</code>],
            ]}
          />
        </details>
        <p>
          <a href={`/account/receipts/of/${recipient.client_id}`}>All receipts of this application</a>
        </p>
        <Back />
      </>
    ),
  };
}

/** The words that were on the page. */
const Shown = ({ words }: { words: ConsentWords }): VNode => (
  <>
    <h2>The words that you saw</h2>
    <blockquote lang={words.language}>
      <p>{words.heading}</p>
      <ul>
        {words.access.map(({ words: text, optional }) => (
          <li>
            {text}
            {optional && ' (you could choose)'}
          </li>
        ))}
      </ul>
      {words.purposes.length > 0 && (
        <>
          <p>What for:</p>
          <ul>
            {words.purposes.map((text) => (
              <li>{text}</li>
            ))}
          </ul>
        </>
      )}
      {words.notes.map((note) => (
        <p>{note}</p>
      ))}
    </blockquote>
  </>
);

const Back = (): VNode => (
  <p>
    <a href="/account">Back to connected applications</a>
  </p>
);
