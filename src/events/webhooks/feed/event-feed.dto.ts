import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { idOf, optional, text, time, whole } from '#platform/http/api/api-schemas.js';
import { IsPageSize, ToNumber } from '#platform/http/api/page-query.js';
import { violation } from '#platform/http/problems/violation.js';
import { IsMatching, IsOptionalNotNull, IsSeconds } from '#platform/http/validation/validation.decorators.js';

const WAIT_MAX = 20;
const AFTER = /^(latest|evnt[0-7][0-9A-HJKMNP-TV-Z]{25}|[A-Za-z0-9_-]{38,200})$/;

/** The query of `GET /v2/events`. */
export class FeedQuery {
  @ApiProperty({
    description:
      'The id of an event, `latest` for none until now, or what a `Link` holds. By default all that are kept.',
  })
  @IsOptionalNotNull()
  @IsMatching(AFTER, violation('feed_place'))
  after?: string;

  @IsPageSize()
  page_size?: number;

  @ApiProperty({ description: 'Seconds to wait when there is nothing new.', default: 0 })
  @IsOptionalNotNull()
  @ToNumber()
  @IsSeconds(0, WAIT_MAX)
  wait?: number;
}

/** An event as it is delivered. */
@ApiSchema({ name: 'Event' })
export class EventView {
  @ApiProperty(idOf('evnt', 'The same in the deliveries to each endpoint.'))
  id!: string;

  @ApiProperty(text(undefined, { example: 'charging_session.updated' }))
  type!: string;

  @ApiProperty(time())
  timestamp!: string;

  @ApiProperty(idOf('user'))
  user_id!: string;

  @ApiProperty({ type: 'object', additionalProperties: true, description: 'By the schema of the type.' })
  data!: object;

  @ApiProperty(optional(whole('Grows by one with each event about the same thing.', { minimum: 1 })))
  sequence?: number;
}
