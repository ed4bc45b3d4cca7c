import type { Operation } from '../openapi.js';

type Parts = Omit<Operation, 'tags' | 'security' | 'operationId' | 'summary' | 'responses'>;

const operation =
  (scope: 'admin:read' | 'admin:write') =>
  (
    operationId: string,
    summary: string,
    responses: Operation['responses'],
    parts: Parts = {},
  ): Operation => ({
    operationId,
    summary,
    tags: ['Admin'],
    security: [{ bearer: [scope] }],
    ...parts,
    responses,
  });
/** An operation of the admin API that only reads. */
export const read = operation('admin:read');
/** An operation that changes something. */
export const write = operation('admin:write');
