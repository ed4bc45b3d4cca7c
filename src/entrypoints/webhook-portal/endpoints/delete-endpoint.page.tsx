import { Confirmation } from '#platform/web/forms/confirmation.js';
import type { PortalPage } from '../frame/portal-layout.js';
import { aboutEndpoint, endpointPath } from './about-endpoint.js';

/** The consequences of deleting an endpoint, and the button. */
export const deleteEndpointPage = ({ id, url }: { id: string; url: string }): PortalPage =>
  aboutEndpoint(id, {
    title: 'Delete endpoint?',
    children: (
      <Confirmation
        question={<bdi>{url}</bdi>}
        consequences={[
          'Nothing more is sent to it, and pending deliveries are cancelled.',
          'Past deliveries stay in the list, but cannot be resent.',
          'Its secret is deleted. An endpoint that you add later gets a new one.',
          'To stop only for a while, disable it instead.',
        ]}
        action={endpointPath(id, 'delete')}
        submit="Delete"
        isDanger
        cancel={endpointPath(id)}
      />
    ),
  });
