import type { VNode } from 'preact';
import { State } from '#platform/web/tables/state.js';
import type { Check } from '../going-live/going-live-checks.js';
import type { JudgedCheck } from '../going-live/going-live.service.js';
import type { DocsReader } from '../readers/docs-reader.js';
import { ClientChoice } from './your-client.js';

type ListedCheck = Pick<JudgedCheck, 'title' | 'hint'> & Partial<JudgedCheck>;

interface ChecklistProps {
  all: readonly Check[];
  reader?: DocsReader;
  /** Of the live client that the reader chose. */
  checks?: JudgedCheck[];
}

/** What has to be done before live use: judged for a member with a live client, otherwise a plain list. */
export function GoingLiveChecklist({ all, reader, checks }: ChecklistProps): VNode {
  const { live, byLink } = reader ?? {};
  const client = live?.chosen;
  if (!client || !checks) {
    return (
      <>
        <p>
          {live
            ? 'Your organisation has no live client yet. Ask your contact for one: then this list says what is done.'
            : 'Members of a partner’s organisation who are logged in see here what is done for their live client.'}
        </p>
        <List of={all} />
      </>
    );
  }
  const concerned = checks.filter(({ isDone }) => isDone !== undefined);
  const done = concerned.filter(({ isDone }) => isDone).length;
  return (
    <>
      <p>
        <strong>{`${done} of ${concerned.length} done`}</strong> for the live client{' '}
        <bdi class="identity-name">{client.name}</bdi> of <bdi>{client.organisationName}</bdi>, as of now.{' '}
        <a href={client === byLink ? '/portal' : '/portal/sign-in'}>Open its portal</a>
      </p>
      <ClientChoice label="Live client" all={live.all} chosen={client} />
      <List of={checks} isJudged />
    </>
  );
}

const List = ({ of, isJudged }: { of: readonly ListedCheck[]; isJudged?: true }): VNode => (
  <ul class="checks" role="list">
    {of.map(({ title, hint, isDone }) => (
      <li>
        <p>
          <strong>{title}</strong> {isJudged && <Verdict isDone={isDone} />}
        </p>
        <p class="hint">{hint}</p>
      </li>
    ))}
  </ul>
);

function Verdict({ isDone }: Pick<ListedCheck, 'isDone'>): VNode {
  if (isDone === undefined) return <State tone="plain">Not needed</State>;
  return isDone ? <State tone="good">Done</State> : <State tone="warn">To do</State>;
}
