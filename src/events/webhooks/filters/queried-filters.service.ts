import { Injectable } from '@nestjs/common';
import { validationFailed } from '#platform/http/problems/problem.js';
import { violation } from '#platform/http/problems/violation.js';
import { RequestValidationPipe } from '#platform/http/validation/validation.pipe.js';
import { EventTypesService } from '../event-types/event-types.service.js';
import { AreConditions, CONDITIONS_MAX, written, type Condition } from './condition.js';
import { filterOf } from './condition-path.js';
import { membersOf } from './event-members.js';
import { filterViolations } from './filter-rules.js';

class Queried {
  @AreConditions() filters!: Condition[];
}

const pipe = new RequestValidationPipe();

/** Filters in a query: the list of an endpoint as JSON text (contract §21). */
@Injectable()
export class QueriedFilters {
  constructor(private readonly eventTypes: EventTypesService) {}

  /** The filter for events of the types that these scopes allow; undefined for none. Throws a 400 problem. */
  async read(text: string | undefined, scopes: readonly string[]): Promise<string | undefined> {
    if (text === undefined) return undefined;
    const queried: unknown = await pipe.transform(
      { filters: listIn(text) },
      { type: 'body', metatype: Queried },
    );
    const conditions = (queried as Queried).filters.map(written);
    const types = await this.eventTypes.listFor([...scopes]);
    const violations = filterViolations(conditions, membersOf(types));
    if (Object.keys(violations).length > 0) throw validationFailed(violations);
    return filterOf(conditions) ?? undefined;
  }
}

function listIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw validationFailed({ filters: [violation('filters', { max: CONDITIONS_MAX })] });
  }
}
