import { Confirmation } from '#platform/web/forms/confirmation.js';
import type { EndpointEntity } from '#events/webhooks/endpoints/endpoint.entity.js';
import type { PortalPage } from '../frame/portal-layout.js';
import { aboutEndpoint, endpointPath } from './about-endpoint.js';

/** The consequences of rotating the key that signs without a shared secret, and the button. `present`: the id of the key. */
export const rotateKeyPage = ({ id }: EndpointEntity, present: string): PortalPage =>
  aboutEndpoint(id, {
    title: 'Rotate key',
    children: (
      <Confirmation
        question="A new key for all endpoints of the client with v1a signatures"
        consequences={[
          'A new key signs immediately. For 24 hours every request carries a signature of the old one, too.',
          'Programs that read the keys from their address need no change. Where you have entered the key, enter the new one within that time.',
          'A key that was replaced before stops signing now.',
        ]}
        action={endpointPath(id, 'rotate-key')}
        hidden={{ present }}
        submit="Rotate key"
        cancel={endpointPath(id)}
      />
    ),
  });
