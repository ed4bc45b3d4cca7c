import type { VNode } from 'preact';
import { Buttons, PostButton } from '../../../web/forms/form.js';
import { ErrorNotice } from '../../../web/layout/notices.js';
import { Facts } from '../../../web/tables/facts.js';
import { ExactMoment } from '../../../web/tables/moment.js';
import { State } from '../../../web/tables/state.js';
import {
  APPROVAL_STATES,
  stateOf,
  type ApprovalAction,
  type ApprovalEntity,
  type ApprovalState,
} from '../../approvals/approval.entity.js';
import type { FilteredList } from '../filtered-list.js';
import type { FieldErrors } from '../form-attempt.js';
import type { ConsolePage } from '../pages/console-layout.js';
import { FilteredTable, Id, Party, StateFilter } from '../pages/lists.js';
import type { PartyNames } from '../pages/party-names.js';
import { approvalPath, APPROVALS_PATH } from './waiting-for.js';

const ACTIONS: Record<ApprovalAction, string> = {
  'user.erase': 'Erase user',
  'user.make_admin': 'Make admin',
  'client.delete': 'Delete client',
};

const STATES: Record<ApprovalState, { label: string; tone: 'good' | 'warn' | 'bad' | 'plain' }> = {
  pending: { label: 'Pending', tone: 'warn' },
  approved: { label: 'Approved', tone: 'good' },
  rejected: { label: 'Rejected', tone: 'bad' },
  expired: { label: 'Expired', tone: 'plain' },
};

const ApprovalStateWord = ({ approval }: { approval: ApprovalEntity }): VNode => {
  const { label, tone } = STATES[stateOf(approval)];
  return <State tone={tone}>{label}</State>;
};

/** What admins asked for, newest first. */
export function approvalsPage(list: FilteredList<ApprovalEntity>, names: PartyNames): ConsolePage {
  return {
    part: 'approvals',
    title: 'Approvals',
    children: (
      <FilteredTable
        list={list}
        path={APPROVALS_PATH}
        filter={<StateFilter states={APPROVAL_STATES} labelOf={(state) => STATES[state].label} />}
        caption="Approvals"
        empty="There are no approvals."
        columns={[
          { head: 'Action', cell: ({ id, action }) => <a href={approvalPath(id)}>{ACTIONS[action]}</a> },
          { head: 'Subject', cell: ({ subjectId }) => <Party id={subjectId} names={names} /> },
          { head: 'State', cell: (approval) => <ApprovalStateWord approval={approval} /> },
          { head: 'Requested by', cell: ({ requestedById }) => <Party id={requestedById} names={names} /> },
          { head: 'Requested', cell: ({ requestedAt }) => <ExactMoment at={requestedAt} /> },
        ]}
      />
    ),
  };
}

export interface ApprovalPageProps {
  approval: ApprovalEntity;
  names: PartyNames;
  /** Whether the visitor, or a client of theirs, asked for it. */
  isOwn: boolean;
  errors?: FieldErrors;
}

/** One approval; while it is pending, with the forms to decide it. */
export function approvalPage({ approval, names, isOwn, errors }: ApprovalPageProps): ConsolePage {
  const { id, action, subjectId, requestedById, decidedById, decidedAt } = approval;
  const isPending = stateOf(approval) === 'pending';
  return {
    part: 'approvals',
    title: ACTIONS[action],
    above: [{ href: APPROVALS_PATH, label: 'Approvals' }],
    children: (
      <>
        {errors && <ErrorNotice>{Object.values(errors).flat().join(' ')}</ErrorNotice>}
        <Facts
          facts={[
            ['ID', <Id id={id} />],
            ['State', <ApprovalStateWord approval={approval} />],
            ['Subject', <Party id={subjectId} names={names} />],
            ['Requested by', <Party id={requestedById} names={names} />],
            ['Requested', <ExactMoment at={approval.requestedAt} />],
            ['Expires', <ExactMoment at={approval.expiresAt} />],
            decidedById !== null && ['Decided by', <Party id={decidedById} names={names} />],
            decidedAt && ['Decided', <ExactMoment at={decidedAt} />],
          ]}
        />
        {isPending && (
          <p>
            Nothing is done until another admin approves it.
            {isOwn && ' You asked for this yourself, so you cannot approve it.'}
          </p>
        )}
        {isPending && (
          <Buttons>
            {!isOwn && <PostButton action={approvalPath(id, 'approve')}>Approve</PostButton>}
            <PostButton action={approvalPath(id, 'reject')} look="quiet">
              Reject
            </PostButton>
          </Buttons>
        )}
      </>
    ),
  };
}
