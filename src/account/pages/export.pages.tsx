import type { ComponentChildren, VNode } from 'preact';
import { inWords, type ReadSection, type ShownValue } from '../../users/accounts/personal-data.js';
import type { DataExport } from '../../users/leaving/data-exports.service.js';
import { LinkButton, PostForm } from '../../web/forms/form.js';
import { ErrorNotice } from '../../web/layout/notices.js';
import { Facts } from '../../web/tables/facts.js';
import { Moment } from '../../web/tables/moment.js';
import { Table } from '../../web/tables/table.js';
import type { AccountPage } from './account-layout.js';

export const EXPORT_PATH = '/account/export';

const TITLE = 'Download my data';

/** Why no link can be sent: the address is not confirmed, or got too many mails. */
export type ExportRefusal = 'unverified' | 'over limit';

const REFUSALS: Record<ExportRefusal, ComponentChildren> = {
  unverified: (
    <>
      We send the link to confirmed addresses only. <a href="/account/email">Confirm your address</a> first.
    </>
  ),
  'over limit': 'Nothing was sent, because too many mails were sent to your address. Try again in an hour.',
};

/** Asks for the link. */
export const askForExportPage = (email: string, refusal?: ExportRefusal): AccountPage => ({
  title: TITLE,
  part: 'leaving',
  children: (
    <>
      {refusal && <ErrorNotice>{REFUSALS[refusal]}</ErrorNotice>}
      <p class="lead">
        You get a file with everything that we hold about you: your account, sessions, applications,
        notifications, and what was recorded.
      </p>
      <ul>
        <li>
          We mail a link to <bdi>{email}</bdi>.
        </li>
        <li>It works once, within 24 hours, and only while you are logged in.</li>
        <li>A new link ends the one before.</li>
      </ul>
      <PostForm action={EXPORT_PATH}>
        <div class="buttons">
          <button type="submit">Send link</button>
          <LinkButton look="quiet" href="/account">
            Cancel
          </LinkButton>
        </div>
      </PostForm>
    </>
  ),
});

/** For a link that does not work for this user. */
export const exportGonePage = (): AccountPage => ({
  title: 'This link no longer works',
  part: 'leaving',
  children: (
    <>
      <p>
        A link to your data works once, within 24 hours, for the account that asked for it. It may have been
        used already, or belong to another account.
      </p>
      <div class="buttons">
        <LinkButton href={EXPORT_PATH}>Ask for a new link</LinkButton>
      </div>
    </>
  ),
});

/** What there is, as headings and tables, with the button that downloads all of it. */
export const exportPage = ({ madeAt, sections }: DataExport, action: string): AccountPage => ({
  title: 'Your data',
  part: 'leaving',
  children: (
    <>
      <p class="lead">
        This is what we hold about you on <Moment at={madeAt} />.
      </p>
      <p>
        You can download all of it as a file in the JSON format, which programs can read. The link works once:
        after the download, ask for a new one.
      </p>
      <PostForm action={action}>
        <div class="buttons">
          <button type="submit">Download as a file</button>
        </div>
      </PostForm>
      {sections.map((section) => section.records.length > 0 && <Section section={section} />)}
      <Nothing sections={sections.filter(({ records }) => records.length === 0)} />
    </>
  ),
});

function Section({ section }: { section: ReadSection }): VNode {
  const { title, about, records, isComplete, columns } = section;
  const [first] = records;
  return (
    <section>
      <h2>{title}</h2>
      <p>{about}</p>
      {first && records.length === 1 && (
        <Facts
          facts={Object.entries(columns).flatMap(([head, valueIn]) => {
            const value = valueIn(first);
            return isNothing(value) ? [] : [[head, <Shown value={value} />]];
          })}
        />
      )}
      {records.length > 1 && (
        <Table
          caption={title}
          rows={records}
          columns={Object.entries(columns).map(([head, valueIn]) => ({
            head,
            cell: (record: object) => <Shown value={valueIn(record)} />,
          }))}
        />
      )}
      {!isComplete && <p class="muted">Older ones are in the file.</p>}
    </section>
  );
}

const Nothing = ({ sections }: { sections: ReadSection[] }): VNode | null =>
  sections.length === 0 ? null : (
    <section>
      <h2>What we hold nothing of</h2>
      <ul>
        {sections.map(({ title }) => (
          <li>{title}</li>
        ))}
      </ul>
    </section>
  );

const isNothing = (value: ShownValue): boolean =>
  value === null || value === undefined || value === '' || (Array.isArray(value) && value.length === 0);

const Several = ({ texts }: { texts: string[] }): VNode =>
  texts.length === 1 ? (
    <bdi>{texts[0]}</bdi>
  ) : (
    <ul>
      {texts.map((text) => (
        <li>
          <bdi>{text}</bdi>
        </li>
      ))}
    </ul>
  );

/** The members of a structure, each on a line of its own. */
const Members = ({ of }: { of: object }): VNode => (
  <ul>
    {Object.entries(of).map(([name, value]) => (
      <li>
        {inWords(name)}: <bdi>{typeof value === 'object' ? JSON.stringify(value) : String(value)}</bdi>
      </li>
    ))}
  </ul>
);

/** Everything is shown as text. */
function Shown({ value }: { value: ShownValue }): VNode {
  if (value === null || value === undefined || isNothing(value)) return <>–</>;
  if (value instanceof Date) return <Moment at={value} />;
  if (typeof value === 'boolean') return <>{value ? 'Yes' : 'No'}</>;
  if (Array.isArray(value)) return <Several texts={value as string[]} />;
  if (typeof value === 'object') return <Members of={value} />;
  return <bdi>{value}</bdi>;
}
