import type { ComponentChildren, VNode } from 'preact';
import { useContext } from 'preact/hooks';
import { say } from '#platform/language/text.js';
import { isMessage } from '#platform/language/catalog.js';
import { numberIn } from '#platform/language/formats.js';
import { Members, OwnWords, type ShownValue } from '#access/users/accounts/own-words.js';
import type { ReadSection } from '#access/users/accounts/personal-data.js';
import type { DataExport } from '#access/users/closing/data-exports.service.js';
import { LinkButton, PostForm } from '#platform/web/forms/form.js';
import { ErrorNotice } from '#platform/web/layout/notices.js';
import { LanguageContext, Say, useText } from '#platform/web/layout/say.js';
import { Facts } from '#platform/web/tables/facts.js';
import { Moment, ShortMoment } from '#platform/web/tables/moment.js';
import { Table } from '#platform/web/tables/table.js';
import type { AccountPage } from './account-layout.js';
import { linkTo } from './message-parts.js';

export const EXPORT_PATH = '/account/export';

const TITLE = say('Download my data');

/** Why no link can be sent: the address is not confirmed, or got too many mails. */
export type ExportRefusal = 'unverified' | 'over limit';

const REFUSALS: Record<ExportRefusal, VNode> = {
  unverified: (
    <Say
      it="We send the link to confirmed addresses only. <email>Confirm your address</email> first."
      with={{ email: linkTo('/account/email') }}
    />
  ),
  'over limit': (
    <Say it="Nothing was sent, because too many mails were sent to your address. Try again in an hour." />
  ),
};

/** Offers the link if one can be sent. */
export const askForExportPage = (email: string, refusal?: ExportRefusal): AccountPage => ({
  title: TITLE,
  part: 'leaving',
  children: (
    <AskForExport submit={refusal === 'unverified' ? undefined : say('Send link')}>
      {refusal && <ErrorNotice>{REFUSALS[refusal]}</ErrorNotice>}
      {refusal !== 'unverified' && <AboutLink email={email} />}
    </AskForExport>
  ),
});

/** Leads directly to the data if there is no mail. */
export const downloadPage = (): AccountPage => ({
  title: TITLE,
  part: 'leaving',
  children: <AskForExport submit={TITLE} />,
});

function AskForExport({ submit, children }: { submit?: string; children?: ComponentChildren }): VNode {
  const t = useText();
  const cancel = (
    <LinkButton look="quiet" href="/account">
      {t('Cancel')}
    </LinkButton>
  );
  return (
    <>
      <p class="lead">
        {t(
          'You get a file with everything that we hold about you: your account, sessions, applications, notifications, and what was recorded.',
        )}
      </p>
      {children}
      {submit === undefined ? (
        <div class="buttons">{cancel}</div>
      ) : (
        <PostForm action={EXPORT_PATH}>
          <div class="buttons">
            <button type="submit">{t(submit)}</button>
            {cancel}
          </div>
        </PostForm>
      )}
    </>
  );
}

function AboutLink({ email }: { email: string }): VNode {
  const t = useText();
  return (
    <ul>
      <li>
        <Say it="We mail a link to {email}." with={{ email: <bdi>{email}</bdi> }} />
      </li>
      <li>{t('It works once, within 24 hours, and only while you are logged in.')}</li>
      <li>{t('A new link ends the one before.')}</li>
    </ul>
  );
}

/** For a link that does not work for this user. */
export const exportGonePage = (): AccountPage => ({
  title: say('This link no longer works'),
  part: 'leaving',
  children: <ExportGone />,
});

function ExportGone(): VNode {
  const t = useText();
  return (
    <>
      <p>
        {t(
          'A link to your data works once, within 24 hours, for the account that asked for it. It may have been used already, or belong to another account.',
        )}
      </p>
      <div class="buttons">
        <LinkButton href={EXPORT_PATH}>{t('Ask for a new link')}</LinkButton>
      </div>
    </>
  );
}

/** What there is, as headings and tables, with the button that downloads all of it. */
export const exportPage = (data: DataExport, action: string): AccountPage => ({
  title: say('Your data'),
  part: 'leaving',
  children: <Export data={data} action={action} />,
});

function Export({ data: { madeAt, sections }, action }: { data: DataExport; action: string }): VNode {
  const t = useText();
  return (
    <>
      <p class="lead">
        <Say it="This is what we hold about you on {moment}." with={{ moment: <Moment at={madeAt} /> }} />
      </p>
      <p>
        {t(
          'You can download all of it as a file in the JSON format, which programs can read. The link works once: after the download, ask for a new one.',
        )}
      </p>
      <PostForm action={action}>
        <div class="buttons">
          <button type="submit">{t('Download as a file')}</button>
        </div>
      </PostForm>
      {sections.map((section) => section.records.length > 0 && <Section section={section} />)}
      <Nothing sections={sections.filter(({ records }) => records.length === 0)} />
    </>
  );
}

function Section({ section }: { section: ReadSection }): VNode {
  const { name, title, about, records, isComplete } = section;
  const { same, varying } = columnsOf(section);
  const id = `section-${name}`;
  const t = useText();
  return (
    <details>
      <summary>
        <h2 id={id}>{t(title)}</h2>
      </summary>
      <p>{t(about)}</p>
      {same.length > 0 && <Facts facts={same.map(([head, value]) => [t(head), <Shown value={value} />])} />}
      {varying.length > 0 && (
        <Table
          caption={t(title)}
          labelledBy={id}
          rows={records}
          columns={varying.map(([head, valueIn], n) => ({
            head: t(head),
            cell: (record: object) => <Shown value={valueIn(record)} />,
            onPhone: n > 1 ? 'unfolded' : undefined,
          }))}
          unfolds={varying.length > 2}
        />
      )}
      {!isComplete && <p class="muted">{t('Older ones are in the file.')}</p>}
    </details>
  );
}

type ValueIn = (record: object) => ShownValue;

/** What all records have in common is said once, what none has is left out; of several records, the table has the rest. */
function columnsOf({ records, columns }: ReadSection): {
  same: [head: string, value: ShownValue][];
  varying: [head: string, valueIn: ValueIn][];
} {
  const [first] = records;
  const some = Object.entries(columns).filter(([, valueIn]) =>
    records.some((record) => !isNothing(valueIn(record))),
  );
  const isSame = ([, valueIn]: [string, ValueIn]): boolean =>
    new Set(records.map((record) => JSON.stringify(valueIn(record)))).size === 1;
  const varying = some.filter((column) => !isSame(column));
  return {
    same: some.filter(isSame).map(([head, valueIn]) => [head, valueIn(first!)]),
    // Records that look the same are several all the same.
    varying: records.length > 1 && varying.length === 0 ? some.slice(0, 1) : varying,
  };
}

function Nothing({ sections }: { sections: ReadSection[] }): VNode | null {
  const t = useText();
  if (sections.length === 0) return null;
  return (
    <section>
      <h2>{t('What we hold nothing about')}</h2>
      <p>{sections.map(({ title }) => t(title)).join(' · ')}</p>
    </section>
  );
}

const isNothing = (value: ShownValue): boolean =>
  value === null ||
  value === undefined ||
  value === '' ||
  (Array.isArray(value) && value.length === 0) ||
  (value instanceof Members && value.all.length === 0);

const Several = ({ texts }: { texts: readonly (string | OwnWords)[] }): VNode =>
  texts.length === 1 ? (
    <Text text={texts[0]!} />
  ) : (
    <ul>
      {texts.map((text) => (
        <li>
          <Text text={text} />
        </li>
      ))}
    </ul>
  );

/** A text by someone, or words of ours: those that are no message are in English on every page. */
function Text({ text }: { text: string | OwnWords }): VNode {
  const t = useText();
  const language = useContext(LanguageContext);
  if (!(text instanceof OwnWords)) return <bdi>{text}</bdi>;
  if (language === 'en' || isMessage(text.text)) return <>{t(text.text)}</>;
  return <bdi lang="en">{text.text}</bdi>;
}

const MembersOf = ({ of }: { of: Members }): VNode => (
  <ul>
    {of.all.map(([name, value]) => (
      <li>
        <Text text={name} />: <Shown value={value} />
      </li>
    ))}
  </ul>
);

/** Everything is shown as text. */
function Shown({ value }: { value: ShownValue }): VNode {
  const t = useText();
  const language = useContext(LanguageContext);
  if (value === null || value === undefined || isNothing(value)) return <>–</>;
  if (value instanceof Date) return <ShortMoment at={value} />;
  if (typeof value === 'boolean') return <>{value ? t('Yes') : t('No')}</>;
  if (typeof value === 'number') return <>{numberIn(language, value)}</>;
  if (value instanceof Members) return <MembersOf of={value} />;
  if (typeof value === 'string' || value instanceof OwnWords) return <Text text={value} />;
  return <Several texts={value} />;
}
