import { DAY_MS } from '#platform/config/durations.js';
import { Confirmation } from '#platform/web/forms/confirmation.js';
import { Moment } from '#platform/web/tables/moment.js';
import type { EndpointEntity } from '#events/webhooks/endpoints/endpoint.entity.js';
import { nameOfSecret } from '#events/webhooks/endpoints/endpoints.service.js';
import type { PortalPage } from '../frame/portal-layout.js';
import { aboutEndpoint, endpointPath } from './about-endpoint.js';

/** The consequences of rotating the secret, and the button. */
export function rotateSecretPage(endpoint: EndpointEntity): PortalPage {
  const { id, url, previousSecretExpiresAt } = endpoint;
  const now = new Date();
  const hasPrevious = previousSecretExpiresAt !== null && previousSecretExpiresAt > now;
  return aboutEndpoint(id, {
    title: 'Rotate secret',
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
        action={endpointPath(id, 'rotate')}
        hidden={{ present: nameOfSecret(endpoint) }}
        submit="Rotate secret"
        cancel={endpointPath(id)}
      >
        {hasPrevious && (
          <p class="notice notice-error">
            The secret was rotated recently, and the previous one is still valid. If you rotate again, the
            previous one stops working immediately.
          </p>
        )}
      </Confirmation>
    ),
  });
}
