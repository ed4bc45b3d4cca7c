import type { TextFieldProps } from '#platform/web/forms/field.js';
import { parseUtcTime } from './utc-time.js';

/** A time in UTC. An invalid value is kept in a text field, because a time field would drop it. */
export function timeField(name: string, label: string, value: string): TextFieldProps {
  const isTime = value === '' || parseUtcTime(value) !== undefined;
  return { name, label, type: isTime ? 'datetime-local' : 'text', step: 1 };
}
