import type { PortalPage } from '../frame/portal-layout.js';

export const endpointPath = (id: string, part = ''): string => `/portal/endpoints/${id}${part && `/${part}`}`;

/** A page about one endpoint, below its own page. */
export const aboutEndpoint = (id: string, page: Omit<PortalPage, 'part' | 'above'>): PortalPage => ({
  part: 'endpoints',
  above: [{ href: endpointPath(id), label: 'Endpoint' }],
  ...page,
});
