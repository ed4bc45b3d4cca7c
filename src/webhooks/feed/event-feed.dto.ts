import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { IsInt, IsOptional, Matches, Max, Min } from 'class-validator';
import { idOf, optional, text, time, whole } from '../../http/api/api-schemas.js';

const PAGE_SIZE = 'must be a whole number from 1 to 100';
const WAIT_MAX = 20;
const WAIT = `must be a whole number of seconds from 0 to ${WAIT_MAX}`;
const AFTER = /^(latest|evnt[0-7][0-9A-HJKMNP-TV-Z]{25}|[A-Za-z0-9_-]{38,200})$/;

const ToNumber = (): PropertyDecorator =>
  Transform(({ value }) => (typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : value));

/** The query of `GET /v2/events`. */
export class FeedQuery {
  @IsOptional()
  @Matches(AFTER, { message: 'must be the id of an event, latest, or what a Link holds' })
  @ApiProperty(
    optional(
      text(
        'The id of an event, `latest` for none until now, or what a `Link` holds. By default all that are kept.',
        {
          pattern: AFTER.source,
        },
      ),
    ),
  )
  after?: string;

  @IsOptional()
  @ToNumber()
  @IsInt({ message: PAGE_SIZE })
  @Min(1, { message: PAGE_SIZE })
  @Max(100, { message: PAGE_SIZE })
  @ApiProperty(
    optional(whole('How many items the page has at most.', { minimum: 1, maximum: 100, default: 25 })),
  )
  page_size?: number;

  @IsOptional()
  @ToNumber()
  @IsInt({ message: WAIT })
  @Min(0, { message: WAIT })
  @Max(WAIT_MAX, { message: WAIT })
  @ApiProperty(
    optional(
      whole('Seconds to wait when there is nothing new.', { minimum: 0, maximum: WAIT_MAX, default: 0 }),
    ),
  )
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
