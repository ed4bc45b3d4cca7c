import { isDeepStrictEqual } from 'node:util';
import type { Form } from '#platform/http/forms/form.js';
import { FORM_KINDS, linesIn } from '#platform/http/resources/form-field.js';
import { ResourceForm, type FormValues } from '#platform/http/resources/resource-form.js';
import {
  batchIn,
  batchShown,
  batchValues,
  batchValuesChangedIn,
  batchValuesIn,
  type BatchValues,
} from '../batches/batch-fields.js';
import type { Condition } from '../filters/condition.js';
import {
  credentialsIn,
  credentialsShown,
  credentialValues,
  credentialValuesChangedIn,
  credentialValuesIn,
  type CredentialValues,
} from '../receiver-tokens/credential-fields.js';
import { headersInLines, linesOf } from './endpoint-headers.js';
import type { EndpointEntity } from './endpoint.entity.js';
import { ENDPOINT } from './endpoint.resource.js';

export const ENDPOINT_FORM = new ResourceForm(ENDPOINT);

const SHOWN_HEADERS = 'shown_headers';
const linesOfText = (text: string): string => JSON.stringify(linesIn(text));

/** The values of an endpoint form. */
export interface EndpointFormValues
  extends FormValues<typeof ENDPOINT.fields>, BatchValues, CredentialValues {
  /** One per line; a masked value stays as it is. */
  headers: string;
}

export const EMPTY_ENDPOINT: EndpointFormValues = {
  ...ENDPOINT_FORM.empty(),
  ...batchValues(null),
  ...credentialValues(null),
  headers: '',
};

export const endpointFieldsOf = (endpoint: EndpointEntity): EndpointFormValues => ({
  ...ENDPOINT_FORM.of(endpoint),
  ...batchValues(endpoint.batch),
  ...credentialValues(endpoint.authentication),
  headers: linesOf(endpoint.headerNames),
});

/** The hidden fields of a form that shows the endpoint. */
export const endpointShown = (endpoint: EndpointEntity): Record<string, string> => {
  const values = endpointFieldsOf(endpoint);
  return {
    ...ENDPOINT_FORM.shown(values),
    ...batchShown(values),
    ...credentialsShown(credentialValues(endpoint.authentication)),
    [SHOWN_HEADERS]: linesOfText(values.headers),
  };
};

/** The present values, with what the person has changed in the form. */
export const endpointFieldsChangedIn = (form: Form, endpoint: EndpointEntity): EndpointFormValues => {
  const present = endpointFieldsOf(endpoint);
  const headers = form.get('headers') ?? '';
  const isShown = linesOfText(headers) === form.get(SHOWN_HEADERS);
  return {
    ...ENDPOINT_FORM.changedIn(form, present),
    ...batchValuesChangedIn(form, batchValues(endpoint.batch)),
    ...credentialValuesChangedIn(form, credentialValues(endpoint.authentication)),
    headers: isShown ? present.headers : headers,
  };
};

export const endpointFieldsIn = (form: Form): EndpointFormValues => ({
  ...ENDPOINT_FORM.in(form),
  ...batchValuesIn(form),
  ...credentialValuesIn(form),
  headers: form.get('headers') ?? '',
});

/** The conditions that the values have. */
export const conditionsOf = ({ filters }: EndpointFormValues): Condition[] =>
  FORM_KINDS.jsonList.member(filters) as Condition[];

/** The members of the admin API that differ from the present values, if there are any; throws a 400 problem for lines that are not headers. */
export const endpointMembersOf = (
  fields: EndpointFormValues,
  present?: EndpointFormValues,
): Record<string, unknown> => ({
  ...ENDPOINT_FORM.changedMembers(fields, present),
  ...(fields.headers === present?.headers ? {} : { headers: headersInLines(fields.headers) }),
  ...(present && isDeepStrictEqual(batchIn(fields), batchIn(present)) ? {} : { batch: batchIn(fields) }),
  ...(present && isDeepStrictEqual(credentialsIn(fields), credentialsIn(present))
    ? {}
    : { authentication: credentialsIn(fields) }),
});
