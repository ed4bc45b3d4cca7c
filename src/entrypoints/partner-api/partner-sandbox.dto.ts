import { ApiProperty } from '@nestjs/swagger';
import {
  IsOneOf,
  IsOptionalNotNull,
  IsVisibleText,
  IsWholeNumber,
} from '#platform/http/validation/validation.decorators.js';
import { FAULT_KINDS, type FaultKind } from '#access/sandbox-faults/sandbox-fault.entity.js';
import { FAULTS_MAX } from '#access/sandbox-faults/sandbox-faults.service.js';
import { BURST_MAX, PAST_DAYS_MAX, SEED_MAX } from '#events/sandbox/driver.js';
import { IsScopeList } from '#access/scopes/scope-name.js';

/** Body of `POST /v2/sandbox/drivers`. */
export class NewDriverDto {
  @IsOptionalNotNull()
  @IsVisibleText(1, 200)
  name?: string;

  @ApiProperty({
    description: 'The same seed gives the same vehicle and the same sessions; by default random.',
  })
  @IsOptionalNotNull()
  @IsWholeNumber(1, SEED_MAX)
  seed?: number;
}

/** Body of `POST /v2/sandbox/drivers/{id}/sessions`. */
export class NewSessionDto {
  @ApiProperty({ description: '1 is real time, 60 is 60 times faster; by default 1.', enum: [1, 60] })
  @IsOptionalNotNull()
  @IsWholeNumber(1, 60)
  speed?: number;
}

/** Body of `POST /v2/sandbox/drivers/{id}/past_days`. */
export class PastDaysDto {
  @IsWholeNumber(1, PAST_DAYS_MAX)
  days!: number;
}

/** Body of `POST /v2/sandbox/drivers/{id}/events`. */
export class BurstDto {
  @IsWholeNumber(1, BURST_MAX)
  count!: number;
}

/** Body of `PUT /v2/sandbox/drivers/{id}/consent`. */
export class DriverConsentDto {
  @ApiProperty({ description: 'By default all scopes of the client that users can grant.' })
  @IsOptionalNotNull()
  @IsScopeList()
  scopes?: string[];
}

/** Body of `POST /v2/sandbox/faults`. */
export class FaultDto {
  @ApiProperty({
    description:
      'The next refresh fails, or the next requests to bearer endpoints for partners are answered with this status.',
  })
  @IsOneOf(...FAULT_KINDS)
  kind!: FaultKind;

  @ApiProperty({ description: 'How many requests; by default 1, and for `refresh` nothing else.' })
  @IsOptionalNotNull()
  @IsWholeNumber(1, FAULTS_MAX)
  count?: number;
}
