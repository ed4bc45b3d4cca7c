import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { illegible } from '../../http/validation/legible-text.js';
import { validationFailed } from '../../http/problems/problem.js';
import { EventTypesService } from '../event-types/event-types.service.js';
import { EndpointAddresses } from './endpoint-addresses.service.js';
import { headerErrors } from './endpoint-headers.js';
import type { EndpointChanges } from './endpoints.service.js';
import { typeErrors } from './type-errors.js';

// In code points, as PostgreSQL counts.
const DESCRIPTION_MAX = 200;
/** Contract §22. */
const PER_MINUTE_MAX = 6000;

/** What the members of an endpoint may be (contract §10, §22). */
@Injectable()
export class EndpointRules {
  constructor(
    private readonly eventTypes: EventTypesService,
    private readonly addresses: EndpointAddresses,
  ) {}

  /** The normalized URL; throws a 400 problem with `field_errors`. */
  async check(scopes: string[], input: EndpointChanges): Promise<string | undefined> {
    const [address, types] = await Promise.all([
      input.url === undefined ? undefined : this.addresses.check(input.url),
      input.eventTypes === undefined ? [] : this.refusedTypes(scopes, input.eventTypes),
    ]);
    const headers = headerErrors(input.headers ?? {});
    const fieldErrors = {
      ...(address?.refusal === undefined ? {} : { url: [address.refusal] }),
      ...descriptionErrors(input.description ?? ''),
      ...(types.length === 0 ? {} : { event_types: types }),
      ...(isLimit(input.maxPerMinute ?? null)
        ? {}
        : { max_per_minute: [`must be a whole number from 1 to ${PER_MINUTE_MAX}, or null`] }),
      ...(headers.length === 0 ? {} : { headers }),
    };
    if (Object.keys(fieldErrors).length > 0) throw validationFailed(fieldErrors);
    return address?.url;
  }

  private async refusedTypes(scopes: string[], names: string[]): Promise<string[]> {
    if (names.length === 0) return ['must contain at least one event type'];
    return typeErrors(await this.eventTypes.list(), scopes, names);
  }

  /** Checks the types again, whose scopes then do not change before the endpoint subscribes. */
  async holdTypes(manager: EntityManager, scopes: string[], names: string[]): Promise<void> {
    const errors = typeErrors(await this.eventTypes.hold(manager, names), scopes, names);
    if (errors.length > 0) throw validationFailed({ event_types: errors });
  }
}

const isLimit = (limit: number | null): boolean =>
  limit === null || (Number.isInteger(limit) && limit >= 1 && limit <= PER_MINUTE_MAX);

function descriptionErrors(description: string): { description?: string[] } {
  const tooLong = Array.from(description).length > DESCRIPTION_MAX;
  const error = tooLong ? `must have at most ${DESCRIPTION_MAX} characters` : illegible(description);
  return error === undefined ? {} : { description: [error] };
}
