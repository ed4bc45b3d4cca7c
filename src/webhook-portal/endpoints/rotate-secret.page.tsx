import { DAY_MS } from '../../config/durations.js';
import { Confirmation } from '../../web/forms/confirmation.js';
import { Moment } from '../../web/tables/moment.js';
import type { EndpointEntity } from '../../webhooks/endpoints/endpoint.entity.js';
import { nameOfSecret } from '../../webhooks/endpoints/endpoints.service.js';
import type { PortalPage } from '../frame/portal-layout.js';

/** The consequences of rotating the secret, and the button. */
export function rotateSecretPage(endpoint: EndpointEntity): PortalPage {
  const { id, url, previousSecretExpiresAt } = endpoint;
  const now = new Date();
  const hasPrevious = previousSecretExpiresAt !== null && previousSecretExpiresAt > now;
  return {
    title: 'Rotate secret',
    part: 'endpoints',
    above: [{ href: `/portal/endpoints/${id}`, label: 'Endpoint' }],
    children: (
      <Confirmation
        question={<bdi>{url}</bdi>}
        consequences={[
          'The endpoint gets a new secret immediately.',
          <>
            The old one stays valid for 24 more hours, until <Moment at={new Date(now.getTime() + DAY_MS)} />.
            Until then, every request carries a signature from each.
          </>,
          'Put the new one into your program within that time. No events are lost.',
        ]}
        action={`/portal/endpoints/${id}/rotate`}
        hidden={{ present: nameOfSecret(endpoint) }}
        submit="Rotate secret"
        cancel={`/portal/endpoints/${id}`}
      >
        {hasPrevious && (
          <p class="notice notice-error">
            The secret was rotated recently, and the previous one is still valid. If you rotate again, the
            previous one stops working immediately.
          </p>
        )}
      </Confirmation>
    ),
  };
}
