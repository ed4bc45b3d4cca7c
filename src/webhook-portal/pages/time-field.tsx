import type { VNode } from 'preact';
import { TextField } from '../../http/pages/field.js';
import { parseUtcTime } from '../utc-time.js';

/** A time in UTC. An invalid value is kept in a text field, because a time field would drop it. */
export function TimeField(props: { id: 'from' | 'to'; label: string; value: string; error?: string }): VNode {
  const isTime = props.value === '' || parseUtcTime(props.value) !== undefined;
  return <TextField name={props.id} type={isTime ? 'datetime-local' : 'text'} step={1} {...props} />;
}
