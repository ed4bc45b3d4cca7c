import type { VNode } from 'preact';
import type { Form } from '#platform/http/forms/form.js';
import { FORM_KINDS } from '#platform/http/resources/form-field.js';
import { TextField } from '#platform/web/forms/field.js';
import { apiWords, type Violations } from '#platform/http/problems/violation.js';
import type { Batch } from './batch.js';

const [MAX, WAIT] = ['batch.max', 'batch.wait_ms'] as const;
const SHOWN = 'shown_batch';
const LABELS: Record<string, string> = { [MAX]: 'Batch size', [WAIT]: 'Batch wait' };

/** The fields of a form, by name: those of the members, so that errors are beside them. */
export type BatchValues = Record<typeof MAX | typeof WAIT, string>;

export const batchValues = (batch: Batch | null): BatchValues => ({
  [MAX]: batch ? String(batch.max) : '',
  [WAIT]: batch ? String(batch.wait_ms) : '',
});

export const batchValuesIn = (form: Form): BatchValues => ({
  [MAX]: (form.get(MAX) ?? '').trim(),
  [WAIT]: (form.get(WAIT) ?? '').trim(),
});

/** The member `batch` of a body, before its rules are checked: both fields empty are none, an empty wait is 0. */
export const batchIn = ({ [MAX]: max, [WAIT]: wait }: BatchValues): Batch | null =>
  max === '' && wait === ''
    ? null
    : {
        max: FORM_KINDS.number.member(max) as number,
        wait_ms: FORM_KINDS.number.member(wait || '0') as number,
      };

/** The hidden field of a form that shows these values. */
export const batchShown = (values: BatchValues): Record<string, string> => ({
  [SHOWN]: JSON.stringify(batchIn(values)),
});

/** The present values, unless the form has others than it showed. */
export const batchValuesChangedIn = (form: Form, present: BatchValues): BatchValues => {
  const typed = batchValuesIn(form);
  return batchShown(typed)[SHOWN] === form.get(SHOWN) ? present : typed;
};

/** At the two fields. */
export const batchErrors = (violations: Violations): Record<string, string> =>
  Object.fromEntries(
    Object.entries(LABELS).flatMap(([name, label]) =>
      violations[name] ? [[name, `${label} ${violations[name].map(apiWords).join(', and ')}`]] : [],
    ),
  );

export const BatchFields = (): VNode => (
  <>
    <TextField
      name={MAX}
      id="batch-max"
      label={LABELS[MAX]!}
      inputMode="numeric"
      hint="The most events that we send in one request, 1 to 100. Your server must expect batches then, also with one event. Leave it empty to get each event by itself."
    />
    <TextField
      name={WAIT}
      id="batch-wait"
      label={LABELS[WAIT]!}
      inputMode="numeric"
      hint="How many milliseconds the first event of a batch waits for more, 0 to 5,000. Empty: it does not wait."
    />
  </>
);
