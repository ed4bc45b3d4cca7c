import type { Form } from '../../../http/forms/form.js';
import { headersInLines, limitIn, linesOf } from '../../../webhooks/endpoints/endpoint-headers.js';
import type { EndpointEntity } from '../../../webhooks/endpoints/endpoint.entity.js';

/** The values of an endpoint form: the members in the format of the admin API. */
export interface EndpointFields {
  url: string;
  description: string;
  event_types: string[];
  max_per_minute: string;
  /** One in each line. */
  headers: string;
}

export const EMPTY_ENDPOINT: EndpointFields = {
  url: '',
  description: '',
  event_types: [],
  max_per_minute: '',
  headers: '',
};

export const endpointFieldsOf = ({
  url,
  description,
  eventTypes,
  maxPerMinute,
  headerNames,
}: EndpointEntity): EndpointFields => ({
  url,
  description,
  event_types: eventTypes,
  max_per_minute: maxPerMinute?.toString() ?? '',
  headers: linesOf(headerNames),
});

/** Whether a change sends users' data to another URL, or more of it. */
export const sendsElsewhere = (endpoint: EndpointEntity, fields: EndpointFields): boolean =>
  fields.url !== endpoint.url || fields.event_types.some((type) => !endpoint.eventTypes.includes(type));

export const endpointFieldsIn = (form: Form): EndpointFields => ({
  url: form.get('url')?.trim() ?? '',
  description: form.get('description') ?? '',
  event_types: form.getAll('event_types'),
  max_per_minute: form.get('max_per_minute')?.trim() ?? '',
  headers: form.get('headers') ?? '',
});

/** The members of the admin API; throws a 400 problem for lines that are no headers. */
export function endpointMembersOf({
  max_per_minute: limit,
  headers: lines,
  ...fields
}: EndpointFields): object {
  const headers = headersInLines(lines);
  return { ...fields, max_per_minute: limit === '' ? null : limitIn(limit), headers };
}
