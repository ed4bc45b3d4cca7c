import type { VNode } from 'preact';
import type { NewClient } from '#access/clients/client.resource.js';
import { Buttons, PostButton } from '#platform/web/forms/form.js';
import { ErrorNotice } from '#platform/web/layout/notices.js';
import { Facts } from '#platform/web/tables/facts.js';
import { ExactMoment, RecentMoment } from '#platform/web/tables/moment.js';
import { State } from '#platform/web/tables/state.js';
import { ADMIN_ACTIONS } from '#entrypoints/admin/actions/admin-actions.js';
import {
  APPROVAL_STATES,
  shownDetails,
  stateOf,
  type ApprovalEntity,
  type ApprovalState,
} from './approval.entity.js';
import { SECOND_FACTOR_NEEDED } from '#access/users/sessions/actors.service.js';
import type { FilteredList } from '#entrypoints/admin/console/filtered-list.js';
import { CONSOLE_PARTS, type ConsolePage } from '#entrypoints/admin/console/pages/console-layout.js';
import {
  FilteredTable,
  Id,
  Party,
  PartyName,
  stateFilter,
  type PartyNames,
} from '#entrypoints/admin/console/pages/lists.js';
import type { FieldErrors } from '#platform/web/forms/field.js';

export const APPROVALS_PATH = '/admin/console/approvals';

export const approvalPath = (id: string, part = ''): string => `${APPROVALS_PATH}/${id}${part && `/${part}`}`;

export const APPROVALS_PART = CONSOLE_PARTS.add(
  'To decide',
  { part: 'approvals', icon: 'check-check', href: APPROVALS_PATH, label: 'Approvals' },
  'first',
);

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

/** What a new client can have, as the forms call it. */
const OF_NEW_CLIENT: Record<keyof NewClient, string> = {
  name: 'Name',
  description: 'Description',
  organisation: 'Organisation',
  site: 'Website',
  privacyPolicy: 'Privacy policy',
  ownerId: 'Owner',
  type: 'Type',
  scopes: 'Scopes',
  optionalScopes: 'Optional scopes',
  purposes: 'Purposes',
  consentExpiryDays: 'Days until a consent ends',
  grantTypes: 'Grant types',
  redirectUris: 'Redirect URIs',
  companyService: 'Company service',
  gatekeeper: 'Gatekeeper',
  environment: 'Environment',
  rateLimit: 'Requests per hour',
  tokenEndpointAuthMethod: 'Authentication',
  jwks: 'Public keys',
  jwksUri: 'Address of the public keys',
  requirePkce: 'PKCE required',
  requirePushedAuthorizationRequests: 'Pushed authorization requests required',
  dpopBoundAccessTokens: 'DPoP required',
  securityProfile: 'Security profile',
  resourceIndicators: 'Resource indicators',
  accessTokenLifetime: 'Seconds that an access token lives',
};

/** What was asked for, as the forms call it. */
const DETAILS: Record<string, string> = {
  ...OF_NEW_CLIENT,
  email: 'Email address',
  emailVerified: 'Address vouched for',
  role: 'Role',
  operatorRole: 'Role of an operator',
  password: 'Password',
  enabled: 'Enabled',
  provider: 'Identity provider',
  expirePreviousIn: 'Previous secrets stay valid (seconds)',
};

const Detail = ({ value }: { value: unknown }): VNode => <bdi>{wordsOf(value) || 'none'}</bdi>;

function wordsOf(value: unknown): string {
  if (Array.isArray(value)) return value.join(', ');
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value ?? '');
}

/** Said where there are none: what they are, too. */
const emptyText = (state: string | undefined, fourEyes: boolean): string =>
  [
    state === undefined ? 'There are no approvals.' : `Nothing is ${state}.`,
    'Here is what needs two admins: what one admin asks for, and another one approves or rejects, such as erasing a user or making someone an admin.',
    ...(fourEyes ? [] : ['Nothing needs two admins at the moment, because the setting FOUR_EYES is off.']),
  ].join(' ');

/** What admins asked for, newest first. */
export function approvalsPage(
  list: FilteredList<ApprovalEntity>,
  names: PartyNames,
  fourEyes: boolean,
): ConsolePage {
  return {
    part: APPROVALS_PART,
    title: 'Approvals',
    children: (
      <FilteredTable
        list={list}
        path={APPROVALS_PATH}
        ready={[{ label: 'Pending', set: { state: 'pending' } }]}
        filter={[stateFilter(APPROVAL_STATES, (state) => STATES[state].label)]}
        caption="Approvals"
        empty={emptyText(list.filter['state'], fourEyes)}
        columns={[
          {
            head: 'Action',
            cell: ({ id, action }) => <a href={approvalPath(id)}>{ADMIN_ACTIONS[action].title}</a>,
          },
          { head: 'Subject', cell: ({ subjectId }) => <PartyName id={subjectId} names={names} /> },
          { head: 'State', cell: (approval) => <ApprovalStateWord approval={approval} />, onPhone: 'beside' },
          {
            head: 'Requested by',
            cell: ({ requestedById }) => <PartyName id={requestedById} names={names} />,
            onPhone: 'unfolded',
          },
          { head: 'Requested', cell: ({ requestedAt }) => <RecentMoment at={requestedAt} /> },
        ]}
      />
    ),
  };
}

export interface ApprovalPageProps {
  approval: ApprovalEntity;
  names: PartyNames;
  /** Whether the visitor asked for it, or stands behind it. */
  isOwn: boolean;
  /** Whether it is about the visitor. */
  isAboutSelf: boolean;
  /** Whether the visitor's session lets them approve. */
  gaveSecondFactor: boolean;
  errors?: FieldErrors;
}

/** One approval; while it is pending, with the forms to decide it. */
export function approvalPage(props: ApprovalPageProps): ConsolePage {
  const { approval, names, isOwn, isAboutSelf, gaveSecondFactor, errors } = props;
  const { id, action, subjectId, requestedById, secondedBy, decidedById, decidedAt } = approval;
  const needsSecond = approval.requestedByType === 'client' && secondedBy === null;
  const isPending = stateOf(approval) === 'pending';
  return {
    part: APPROVALS_PART,
    title: ADMIN_ACTIONS[action].title,
    above: [{ href: APPROVALS_PATH, label: 'Approvals' }],
    children: (
      <>
        {errors && <ErrorNotice>{Object.values(errors).flat().join(' ')}</ErrorNotice>}
        <Facts
          facts={[
            ['ID', <Id id={id} />],
            ['State', <ApprovalStateWord approval={approval} />],
            ['Subject', <Party id={subjectId} names={names} />],
            ...Object.entries(shownDetails(approval)).map(([name, value]): [string, VNode] => [
              DETAILS[name] ?? name,
              <Detail value={value} />,
            ]),
            ['Requested by', <Party id={requestedById} names={names} />],
            secondedBy !== null && ['Behind it', <Party id={secondedBy} names={names} />],
            ['Requested', <ExactMoment at={approval.requestedAt} />],
            ['Expires', <ExactMoment at={approval.expiresAt} />],
            decidedById !== null && ['Decided by', <Party id={decidedById} names={names} />],
            decidedAt && ['Decided', <ExactMoment at={decidedAt} />],
          ]}
        />
        {isPending && (
          <p>
            Nothing is done until another admin approves it.
            {isAboutSelf && ' It is about your own account.'}
            {isOwn && ' You asked for this yourself, so you cannot approve it.'}
            {needsSecond &&
              ' A client asked for it, and nobody knows who holds its secret: two admins have to approve it.'}
            {!isOwn && !gaveSecondFactor && ` ${SECOND_FACTOR_NEEDED}`}
          </p>
        )}
        {isPending && (
          <Buttons>
            {!isOwn && gaveSecondFactor && (
              <PostButton action={approvalPath(id, 'approve')}>Approve</PostButton>
            )}
            <PostButton action={approvalPath(id, 'reject')} look="quiet">
              Reject
            </PostButton>
          </Buttons>
        )}
      </>
    ),
  };
}
