import type { Form } from '../../../http/form.js';
import type { EndpointEntity } from '../../../webhooks/endpoints/endpoint.entity.js';

/** What stands in the fields of an endpoint's form: the members as the admin API takes them. */
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

export const endpointFieldsIn = (form: Form): EndpointFields => ({
  url: form.get('url')?.trim() ?? '',
  description: form.get('description') ?? '',
  event_types: form.getAll('event_types'),
});
