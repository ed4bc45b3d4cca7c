import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { whole } from '#platform/http/api/api-schemas.js';
import { IsJsonObject } from '#platform/http/validation/validation.decorators.js';
import { violation, type Violations } from '#platform/http/problems/violation.js';

/** In place of the type of an event, in requests with a batch. */
export const BATCH_TYPE = 'batch';

/** How the deliveries of an endpoint are gathered into requests (contract §22). */
export interface Batch {
  /** Events in a request. */
  max: number;
  /** How long the first one waits for more, in milliseconds. */
  wait_ms: number;
}

export const BATCH_LIMITS: Record<keyof Batch, { min: number; max: number }> = {
  max: { min: 1, max: 100 },
  wait_ms: { min: 0, max: 5000 },
};

/** What is wrong with the members, at `batch.member`; empty if nothing is. */
export function batchViolations(given: object | null | undefined): Violations {
  if (!given) return {};
  const values = given as Record<string, unknown>;
  const isWithin = (name: keyof Batch): boolean => {
    const [value, { min, max }] = [values[name], BATCH_LIMITS[name]];
    return Number.isInteger(value) && (value as number) >= min && (value as number) <= max;
  };
  return Object.fromEntries([
    ...Object.keys(values).flatMap((name) =>
      Object.hasOwn(BATCH_LIMITS, name) ? [] : [[`batch.${name}`, [violation('unknown_member')]]],
    ),
    ...(Object.keys(BATCH_LIMITS) as (keyof Batch)[]).flatMap((name) =>
      isWithin(name) ? [] : [[`batch.${name}`, [violation('whole_number', BATCH_LIMITS[name])]]],
    ),
  ]) as Violations;
}

const member = (name: keyof Batch, description: string) =>
  whole(description, { minimum: BATCH_LIMITS[name].min, maximum: BATCH_LIMITS[name].max });

const SCHEMA = {
  type: 'object',
  properties: {
    max: member('max', 'The most events in a request.'),
    wait_ms: member('wait_ms', 'How long the first event waits for more, in milliseconds.'),
  },
  required: ['max', 'wait_ms'],
  additionalProperties: false,
  example: { max: 50, wait_ms: 1000 },
} as const;

/** The schema in answers. */
export const SHOWN_BATCH = {
  ...SCHEMA,
  nullable: true,
  description: 'Several events go in one request; null: each in its own.',
} as const;

/** An object in a body; `batchViolations` checks its members. */
export const IsBatch = (): PropertyDecorator => applyDecorators(IsJsonObject(), ApiProperty(SCHEMA as never));

/** In a sentence. */
export const batchInWords = ({ max, wait_ms: wait }: Batch): string =>
  `Up to ${max} events in a request${wait > 0 ? `, for which the first one waits up to ${wait} ms` : ''}`;
