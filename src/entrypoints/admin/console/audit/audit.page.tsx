import type { VNode } from 'preact';
import type { AuditEventEntity } from '#records/audit/audit-event.entity.js';
import { ExactMoment, RecentMoment } from '#platform/web/tables/moment.js';
import type { FilteredList } from '../filtered-list.js';
import type { ConsolePage } from '../pages/console-layout.js';
import { FilteredTable, Id, RowDetails, RowFact, pathWith, type PartyNames } from '../pages/lists.js';
import { linkOf } from '../pages/resource-link.js';
import { auditWordsOf } from './audit-words.js';
import type { Option } from '#platform/web/forms/field.js';

const PATH = '/admin/console/audit';

export interface AuditPageProps {
  list: FilteredList<AuditEventEntity>;
  /** Of the actors and subjects in it. */
  names: PartyNames;
  /** What the filter offers. */
  offers: { actors: Option[]; actions: Option[] };
}

/** The audit log, newest first, with what changed and a filter. */
export function auditPage({ list, names, offers }: AuditPageProps): ConsolePage {
  return {
    part: 'audit',
    title: 'Audit log',
    children: (
      <FilteredTable
        list={list}
        path={PATH}
        csvPath={`${PATH}/csv`}
        ready={[{ label: 'Today', set: { since: new Date().toISOString().slice(0, 10) } }]}
        filter={[
          { name: 'actor', label: 'Actor', offers: offers.actors },
          { name: 'subject', label: 'Subject, by ID or name' },
          { name: 'action', label: 'Action', offers: offers.actions },
          { name: 'request_id', label: 'Request ID', spellcheck: false },
          { name: 'since', label: 'Since (UTC)', type: 'date' },
        ]}
        caption="Audit events"
        empty="No audit events match."
        columns={[
          { head: 'What', cell: (event) => <Sentence event={event} names={names} /> },
          { head: 'When', cell: ({ occurredAt }) => <RecentMoment at={occurredAt} />, onPhone: 'beside' },
          { head: 'More', cell: (event) => <Details event={event} />, onPhone: 'unfolded' },
        ]}
        unfolds
      />
    ),
  };
}

interface EventProps {
  event: AuditEventEntity;
}

interface NamedEventProps extends EventProps {
  names: PartyNames;
}

/** Such as “Klara added a passkey”: what it was about is named unless it is who acted. */
function Sentence({ event, names }: NamedEventProps): VNode {
  const { action, actorId, subjectType, subjectId } = event;
  const { did, to } = auditWordsOf(action, subjectType, actorId === subjectId);
  const name = names.get(subjectId);
  return (
    <span>
      <Who event={event} names={names} /> {did}
      {to !== undefined && name !== undefined && ` ${to}`}
      {to !== undefined && ' '}
      {to !== undefined && <Linked id={subjectId} label={name ?? to} />}
    </span>
  );
}

function Who({ event: { actorType, actorId }, names }: NamedEventProps): VNode {
  if (actorType === 'service') return <>The service</>;
  if (actorId === null) return <>Someone who was not logged in</>;
  return <Linked id={actorId} label={names.get(actorId) ?? `A ${actorType}`} />;
}

function Linked({ id, label }: { id: string; label: string }): VNode {
  const href = linkOf(id);
  return href ? (
    <a href={href}>
      <bdi>{label}</bdi>
    </a>
  ) : (
    <bdi>{label}</bdi>
  );
}

/**
 * What the line has no room for, once it is opened: the changed members before and after (an unknown side is omitted), the name of the
 * action, exactly when, ids and the request.
 */
function Details({ event }: EventProps): VNode {
  const { action, occurredAt, before, after, actorId, subjectId, address, requestId } = event;
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  return (
    <RowDetails>
      {names.map((name) => (
        <div>
          <dt>{name}</dt>
          {before && name in before && (
            <dd class="was">
              <span class="visually-hidden">was </span>
              {textOf(before[name])}
            </dd>
          )}
          {after && name in after && (
            <dd class="is">
              <span class="visually-hidden">is </span>
              {textOf(after[name])}
            </dd>
          )}
        </div>
      ))}
      <RowFact name="action">
        <a href={pathWith(PATH, { action })}>{action}</a>
      </RowFact>
      <RowFact name="time">
        <ExactMoment at={occurredAt} />
      </RowFact>
      {actorId !== null && (
        <RowFact name="actor">
          <Id id={actorId} />
        </RowFact>
      )}
      {subjectId !== actorId && (
        <RowFact name="subject">
          <Id id={subjectId} />
        </RowFact>
      )}
      {address && (
        <RowFact name="from">
          <bdi>{address}</bdi>
        </RowFact>
      )}
      {requestId && (
        <RowFact name="request">
          <a href={pathWith(PATH, { request_id: requestId })}>{requestId}</a>
        </RowFact>
      )}
    </RowDetails>
  );
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return 'none';
  if (typeof value === 'string') return value;
  if (Array.isArray(value) && value.every((each) => typeof each === 'string')) {
    return value.length === 0 ? 'none' : value.join(', ');
  }
  return JSON.stringify(value);
}
