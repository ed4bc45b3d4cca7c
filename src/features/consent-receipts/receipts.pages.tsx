import type { ComponentChildren, VNode } from 'preact';
import { useContext } from 'preact/hooks';
import { WhatFor } from '#access/consents/pages/access-choice.js';
import type { ConsentMethod } from '#access/consents/consent-terms.js';
import type { ConsentWords } from '#access/consents/record/consent-words.js';
import {
  type ConsentVersionEntity,
  EVENT_WORDS,
  howOf,
} from '#access/consents/record/consent-version.entity.js';
import type { Receipt } from './receipt.js';
import type { Page } from '#platform/database/queries/read-page.js';
import { say } from '#platform/language/text.js';
import { LinkButton } from '#platform/web/forms/form.js';
import { LanguageContext, Say, useText } from '#platform/web/layout/say.js';
import { Facts } from '#platform/web/tables/facts.js';
import { Moment } from '#platform/web/tables/moment.js';
import { NEXT_PREVIOUS, PagedList } from '#platform/web/tables/pager.js';
import type { AccountPage } from '#entrypoints/account/pages/account-layout.js';
import { hidden } from '#entrypoints/account/pages/message-parts.js';

const NAMELESS = say('An application');

/** The newest receipt of each application. */
export const receiptsPage = (versions: Page<ConsentVersionEntity>): AccountPage => ({
  title: say('Receipts'),
  part: 'sharing',
  children: <Receipts versions={versions} />,
});

function Receipts({ versions }: { versions: Page<ConsentVersionEntity> }): VNode {
  const t = useText();
  return (
    <>
      <p class="lead">
        {t(
          'Whenever you agree to share data, or stop sharing, we keep a receipt. These are the newest ones of each application.',
        )}
      </p>
      <Versions
        page={versions}
        path="/account/receipts"
        placeOf={({ clientId }) => clientId}
        heading={({ clientName }) => clientName ?? t(NAMELESS)}
      >
        {({ clientId, clientName }) => (
          <a href={`/account/receipts/of/${clientId}`}>
            <Say
              it="All receipts<hidden> of {name}</hidden>"
              with={{ name: clientName ?? t(NAMELESS), hidden }}
            />
          </a>
        )}
      </Versions>
      <Back />
    </>
  );
}

/** All receipts of one application. */
export const receiptsOfPage = (clientId: string, versions: Page<ConsentVersionEntity>): AccountPage => ({
  title: say('Receipts of an application'),
  part: 'sharing',
  children: <ReceiptsOf clientId={clientId} versions={versions} />,
});

function ReceiptsOf({
  clientId,
  versions,
}: {
  clientId: string;
  versions: Page<ConsentVersionEntity>;
}): VNode {
  const t = useText();
  const [newest] = versions.items;
  return (
    <>
      <p class="lead">
        <Say
          it="What you agreed to share with {application}, from the newest to the oldest."
          with={{
            application: <bdi class="name">{newest ? (newest.clientName ?? t(NAMELESS)) : ''}</bdi>,
          }}
        />
      </p>
      <Versions
        page={versions}
        path={`/account/receipts/of/${clientId}`}
        placeOf={({ number }) => String(number)}
        heading={({ event }) => t(EVENT_WORDS[event])}
      />
      <Back />
    </>
  );
}

interface VersionsProps {
  page: Page<ConsentVersionEntity>;
  /** The next page starts after this. */
  placeOf: (version: ConsentVersionEntity) => string;
  path: string;
  heading: (version: ConsentVersionEntity) => string;
  children?: (version: ConsentVersionEntity) => ComponentChildren;
}

function Versions({ page, path, heading, placeOf, children }: VersionsProps): VNode {
  const t = useText();
  return (
    <PagedList
      page={{ ...page, items: page.items.map((version) => ({ id: placeOf(version) })) }}
      path={path}
      label={t('More receipts')}
      labels={NEXT_PREVIOUS}
      empty={t('There are no receipts: you have never agreed to share data through this service.')}
    >
      <ul class="entries" role="list">
        {page.items.map((version) => (
          <li>
            <div class="entry-head">
              <h2>
                <bdi>{heading(version)}</bdi>
              </h2>
            </div>
            <p>{t(howOf(version.method, version.reason))}</p>
            <Facts facts={[[t('Recorded'), <Moment at={version.recordedAt} />]]} />
            <p class="entry-actions">
              <LinkButton look="quiet" href={`/account/receipts/${version.id}`}>
                <Say
                  it="Receipt<hidden> of {name}</hidden>"
                  with={{ name: version.clientName ?? t(NAMELESS), hidden }}
                />
              </LinkButton>
              {children?.(version)}
            </p>
          </li>
        ))}
      </ul>
    </PagedList>
  );
}

interface OneReceiptProps {
  receipt: Receipt;
  /** The current words, for a receipt without the words that were shown. */
  wordsOf: (scope: string) => string;
  purposes: string[];
}

/** One receipt in words, with the file for those who want to verify it. */
export const receiptPage = (props: OneReceiptProps): AccountPage => ({
  title: say('Receipt'),
  part: 'sharing',
  children: <OneReceipt {...props} />,
});

function OneReceipt({ receipt, wordsOf, purposes }: OneReceiptProps): VNode {
  const t = useText();
  const { event, recipient, words } = receipt;
  const shown = words && (JSON.parse(words.text) as ConsentWords);
  return (
    <>
      <p class="lead">
        {t(EVENT_WORDS[event.type as keyof typeof EVENT_WORDS])}:{' '}
        <Recipient name={recipient.name} organisation={recipient.organisation} />
      </p>
      <p>{t(howOf(event.method as ConsentMethod, event.reason))}</p>
      <Facts
        facts={[
          [t('Recorded'), <Moment at={new Date(event.time)} />],
          [t('Agreed since'), <Moment at={new Date(receipt.valid_from)} />],
          receipt.valid_until !== null && [t('Holds until'), <Moment at={new Date(receipt.valid_until)} />],
          receipt.ended_at !== null && [t('Ended'), <Moment at={new Date(receipt.ended_at)} />],
          [t('Kept by'), receipt.pii_controller.name],
        ]}
      />
      <h2>{event.type === 'ended' ? t('What it could read') : t('What it may read')}</h2>
      {receipt.scopes.length === 0 ? (
        <p>{t('Nothing.')}</p>
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
        <LinkButton href={`/account/receipts/${receipt.record_id}/file`}>{t('Download receipt')}</LinkButton>
      </p>
      <p class="fine-print">
        {t('The file is signed, so that anyone can check that it came from us and was not changed.')}
      </p>
      <details class="fine-print">
        <summary>{t('Technical details')}</summary>
        <Facts
          facts={[
            [t('Receipt'), <code>{receipt.record_id}</code>],
            receipt.replaces !== null && [
              t('Replaces'),
              <a href={`/account/receipts/${receipt.replaces}`}>
                <code>{receipt.replaces}</code>
              </a>,
            ],
            [t('Application'), <code>{recipient.client_id}</code>],
            words && [t('Digest of the words'), <code>{words.digest}</code>],
          ]}
        />
      </details>
      <p>
        <a href={`/account/receipts/of/${recipient.client_id}`}>{t('All receipts of this application')}</a>
      </p>
      <Back />
    </>
  );
}

function Recipient({ name, organisation }: { name: string | null; organisation: string | null }): VNode {
  const t = useText();
  const application = <bdi class="name">{name ?? t('an application')}</bdi>;
  if (!organisation) return application;
  return (
    <Say
      it="{application} of {organisation}"
      with={{ application, organisation: <bdi>{organisation}</bdi> }}
    />
  );
}

/** The words that were on the page. */
function Shown({ words }: { words: ConsentWords }): VNode {
  const t = useText();
  const language = useContext(LanguageContext);
  return (
    <>
      <h2>{t('The words that you saw')}</h2>
      <blockquote lang={words.language}>
        <p>{words.heading}</p>
        <ul>
          {words.access.map(({ words: text, optional }) => (
            <li>
              {text}
              {optional && (
                <>
                  {' '}
                  {/* Ours, not what was on the page. */}
                  <span lang={language}>{t('(you could choose)')}</span>
                </>
              )}
            </li>
          ))}
        </ul>
        {words.purposes.length > 0 && (
          <>
            <p lang={language}>{t('What for:')}</p>
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
}

function Back(): VNode {
  const t = useText();
  return (
    <p>
      <a href="/account">{t('Back to connected applications')}</a>
    </p>
  );
}
