import type { Form } from '../../http/forms/form.js';
import { ResourceForm, type FormValues } from '../../http/resources/resource-form.js';
import { headersInLines, linesOf } from './endpoint-headers.js';
import type { EndpointEntity } from './endpoint.entity.js';
import { ENDPOINT } from './endpoint.resource.js';

export const ENDPOINT_FORM = new ResourceForm(ENDPOINT);

/** The values of an endpoint form. */
export interface EndpointFormValues extends FormValues<typeof ENDPOINT.fields> {
  /** One per line; a masked value stays as it is. */
  headers: string;
}

export const EMPTY_ENDPOINT: EndpointFormValues = { ...ENDPOINT_FORM.empty(), headers: '' };

export const endpointFieldsOf = (endpoint: EndpointEntity): EndpointFormValues => ({
  ...ENDPOINT_FORM.of(endpoint),
  headers: linesOf(endpoint.headerNames),
});

export const endpointFieldsIn = (form: Form): EndpointFormValues => ({
  ...ENDPOINT_FORM.in(form),
  headers: form.get('headers') ?? '',
});

/** The members of the admin API; throws a 400 problem for lines that are not headers. */
export const endpointMembersOf = (fields: EndpointFormValues): Record<string, unknown> => ({
  ...ENDPOINT_FORM.changedMembers(fields),
  headers: headersInLines(fields.headers),
});
