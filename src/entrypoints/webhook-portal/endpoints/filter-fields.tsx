import type { VNode } from 'preact';
import { SelectField, TextField, type FieldErrors } from '#platform/web/forms/field.js';
import { ErrorNotice } from '#platform/web/layout/notices.js';
import { RecentMoment } from '#platform/web/tables/moment.js';
import { State } from '#platform/web/tables/state.js';
import { Table } from '#platform/web/tables/table.js';
import { OPERATORS, type Condition, type Operator } from '#events/webhooks/filters/condition.js';
import type { EventMembers } from '#events/webhooks/filters/event-members.js';
import type { FilterPreview } from '#events/webhooks/filters/filter-preview.service.js';
import { rowField, rowsFor } from '#events/webhooks/filters/typed-conditions.js';

const OPERATOR_WORDS: Record<Operator, string> = {
  equals: 'is',
  not_equals: 'is not',
  in: 'is one of',
  greater: 'is greater than',
  at_least: 'is at least',
  less: 'is less than',
  at_most: 'is at most',
  exists: 'is there',
  starts_with: 'starts with',
};
const OPERATOR_OPTIONS = OPERATORS.map((value) => ({ value, label: OPERATOR_WORDS[value] }));

/** A condition as a sentence. */
export function conditionText({ path, operator, value }: Condition): string {
  if (operator === 'exists') return `${path} ${value === false ? 'is not there' : 'is there'}`;
  return `${path} ${OPERATOR_WORDS[operator]} ${[value].flat().map(String).join(', ')}`;
}

export interface FilterFieldsProps {
  conditions: readonly Condition[];
  members: EventMembers;
  errors: FieldErrors;
}

/** A row for each condition, and some for further ones. */
export function FilterFields({ conditions, members, errors }: FilterFieldsProps): VNode {
  const known = [...members].map(([path, kinds]) => ({
    value: path,
    label: `${path} (${[...kinds].map((kind) => (kind === 'any' ? 'any value' : kind)).join(' or ')})`,
  }));
  const optionsFor = (chosen: string | undefined) => [
    { value: '', label: 'No condition' },
    ...known,
    ...(chosen === undefined || members.has(chosen) ? [] : [{ value: chosen, label: chosen }]),
  ];
  return (
    <>
      <p class="hint">
        An event is sent only if all conditions hold. What is not sent stays in the feed. An event without the
        member does not match. For “is one of” enter values with commas between them.
      </p>
      {errors['filters'] && <ErrorNotice>{`The filters ${String(errors['filters'])}.`}</ErrorNotice>}
      {rowsFor(conditions).map((place) => (
        <fieldset class="field choice-group">
          <legend>Condition {place + 1}</legend>
          <SelectField
            name={rowField(place, 'path')}
            id={`filter-${place}-path`}
            label="Member"
            options={optionsFor(conditions[place]?.path)}
          />
          <SelectField
            name={rowField(place, 'operator')}
            id={`filter-${place}-operator`}
            label="Operator"
            options={OPERATOR_OPTIONS}
          />
          <TextField
            name={rowField(place, 'value')}
            id={`filter-${place}-value`}
            label="Value"
            spellcheck={false}
          />
        </fieldset>
      ))}
    </>
  );
}

export interface TriedFilters {
  conditions: readonly Condition[];
  preview: FilterPreview;
}

/** What the conditions would have done with the newest events, and why. */
export function FilterPreviewNotice({ conditions, preview: { events, sent } }: TriedFilters): VNode {
  if (events.length === 0) {
    return (
      <p class="notice" role="status">
        Nothing is saved yet. There are no recent events of these types to try the filters with.
      </p>
    );
  }
  return (
    <section aria-labelledby="tried">
      <p class="notice" role="status">
        <strong id="tried">
          Of the last {events.length} events {sent} would have been sent.
        </strong>{' '}
        Nothing is saved yet.
      </p>
      <Table
        caption="Events that the filters were tried with"
        labelledBy="tried"
        rows={events}
        keyOf={({ id }) => id}
        columns={[
          { head: 'Event', cell: ({ type }) => type, under: ({ id }) => <code>{id}</code> },
          {
            head: 'Result',
            cell: ({ holds }) =>
              holds.every(Boolean) ? <State tone="good">Sent</State> : <State tone="plain">Not sent</State>,
            onPhone: 'beside',
          },
          {
            head: 'Why',
            cell: ({ holds }) => {
              const failed = conditions.filter((_, place) => !holds[place]);
              return failed.length === 0 ? (
                'All conditions hold'
              ) : (
                <bdi>Not true: {failed.map(conditionText).join('; ')}</bdi>
              );
            },
          },
          { head: 'Accepted', cell: ({ createdAt }) => <RecentMoment at={createdAt} />, onPhone: 'at-end' },
        ]}
      />
    </section>
  );
}
