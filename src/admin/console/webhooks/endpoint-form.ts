import type { Form } from '../../../http/forms/form.js';
import type { EndpointEntity } from '../../../webhooks/endpoints/endpoint.entity.js';

/** The values of an endpoint form: the members in the format of the admin API. */
export interface EndpointFields {
  url: string;
  description: string;
  event_types: string[];
}

export const EMPTY_ENDPOINT: EndpointFields = { url: '', description: '', event_types: [] };

export const endpointFieldsOf = ({ url, description, eventTypes }: EndpointEntity): EndpointFields => ({
  url,
  description,
  event_types: eventTypes,
});

/** Whether a change sends users' data to another URL, or more of it. */
export const sendsElsewhere = (endpoint: EndpointEntity, fields: EndpointFields): boolean =>
  fields.url !== endpoint.url || fields.event_types.some((type) => !endpoint.eventTypes.includes(type));

export const endpointFieldsIn = (form: Form): EndpointFields => ({
  url: form.get('url')?.trim() ?? '',
  description: form.get('description') ?? '',
  event_types: form.getAll('event_types'),
});
