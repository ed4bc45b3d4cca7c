import type { ClientCredentials } from '#access/clients/client-credentials.js';
import type { Form } from '#platform/http/forms/form.js';
import { invalidRequest } from '../oauth-error.js';

/** RFC 6749 §2.3: the client MUST NOT use more than one authentication method in each request. */
export function requireSingleMethod({ clientId }: ClientCredentials, form: Form): void {
  const otherId = form.get('client_id') !== undefined && form.get('client_id') !== clientId;
  if (form.get('client_secret') !== undefined || otherId) {
    throw invalidRequest('The client authenticated twice: in the Authorization header and in the body.');
  }
}
