import type { VNode } from 'preact';
import { TextField } from '../../web/forms/field.js';
import { parseUtcTime } from './utc-time.js';

/** A time in UTC. An invalid value is kept in a text field, because a time field would drop it. */
export function TimeField({ value, ...field }: { name: string; label: string; value: string }): VNode {
  const isTime = value === '' || parseUtcTime(value) !== undefined;
  return <TextField type={isTime ? 'datetime-local' : 'text'} step={1} {...field} />;
}
