import type { VNode } from 'preact';
import type { Form } from '#platform/http/forms/form.js';
import { TextField } from '#platform/web/forms/field.js';
import { apiWords, type Violations } from '#platform/http/problems/violation.js';
import type { Batch } from './batch.js';

const LABELS: Record<string, string> = { 'batch.max': 'Batch size', 'batch.wait_ms': 'Batch wait' };

/** The member `batch` as JSON, as it is typed into two fields; empty for none. */
export function batchTyped(form: Form): string {
  const [max, wait] = Object.keys(LABELS).map((name) => (form.get(name) ?? '').trim());
  if (max === '' && wait === '') return '';
  return JSON.stringify({ max: numberIn(max!), wait_ms: wait === '' ? 0 : numberIn(wait!) });
}

const numberIn = (typed: string): number | string => (/^\d{1,9}$/.test(typed) ? Number(typed) : typed);

/** What the two fields show of it. */
export const batchFieldValues = (batch: Batch | null): Record<string, string> =>
  batch ? { 'batch.max': String(batch.max), 'batch.wait_ms': String(batch.wait_ms) } : {};

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
      name="batch.max"
      id="batch-max"
      label={LABELS['batch.max']!}
      inputMode="numeric"
      hint="The most events that we send in one request, 1 to 100. Your server must expect batches then, also with one event. Leave it empty to get each event by itself."
    />
    <TextField
      name="batch.wait_ms"
      id="batch-wait"
      label={LABELS['batch.wait_ms']!}
      inputMode="numeric"
      hint="How many milliseconds the first event of a batch waits for more, 0 to 5,000. Empty: it does not wait."
    />
  </>
);
