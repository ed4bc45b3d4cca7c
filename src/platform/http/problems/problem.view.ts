import { ApiProperty, ApiSchema, getSchemaPath } from '@nestjs/swagger';
import { optional, text, url, whole } from '../api/api-schemas.js';
import { PROBLEM_KINDS } from './problem-kinds.js';

/** A problem with status 401 or 403 on the wire: these say no more. */
@ApiSchema({ name: 'PlainProblem' })
export class PlainProblemView {
  @ApiProperty(whole()) status!: number;
  @ApiProperty(text()) title!: string;
  @ApiProperty(text()) detail!: string;
}

/** Any other problem on the wire (RFC 9457, contract §1). */
@ApiSchema({ name: 'Problem' })
export class ProblemView extends PlainProblemView {
  @ApiProperty(
    optional(
      text('URL of a page that explains this kind of problem.', {
        format: 'uri',
        pattern: `/v2/problems/(${Object.keys(PROBLEM_KINDS).join('|')})/$`,
      }),
    ),
  )
  type?: string;

  @ApiProperty(optional(url('URL of the resource concerned.'))) instance?: string;

  @ApiProperty({
    $ref: getSchemaPath('Notification'),
    required: false,
  } as never)
  notification?: object;

  @ApiProperty({
    type: 'object',
    selfRequired: false,
    description: 'What is wrong with which member.',
    additionalProperties: { type: 'array', items: { type: 'string' } },
  })
  field_errors?: Record<string, string[]>;
}
