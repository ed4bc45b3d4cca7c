import type { ClientEntity } from '#access/clients/client.entity.js';
import type { ConsolePage } from '../pages/console-layout.js';
import { subjectPage, type SubjectPage } from '../pages/subject-page.js';

export const CLIENTS_PATH = '/admin/console/clients';

export const clientPath = (id: string, part = ''): string => `${CLIENTS_PATH}/${id}${part && `/${part}`}`;

/** A page about one client. */
export const aboutClient = ({ id, name, environment }: ClientEntity, page: SubjectPage): ConsolePage =>
  subjectPage(
    {
      part: 'clients',
      list: { href: CLIENTS_PATH, label: 'Clients' },
      name,
      environment,
      path: clientPath(id),
      links: [
        { part: 'client', label: 'Client', href: clientPath(id) },
        { part: 'requests', label: 'Requests', href: clientPath(id, 'requests') },
        { part: 'refusals', label: 'Refusals', href: clientPath(id, 'refusals') },
        { part: 'consents', label: 'Consents', href: clientPath(id, 'consents') },
        { part: 'grants', label: 'Active grants', href: clientPath(id, 'grants') },
        { part: 'endpoints', label: 'Endpoints', href: `/admin/console/endpoints?client_id=${id}` },
        { part: 'deliveries', label: 'Deliveries', href: `/admin/console/deliveries?client_id=${id}` },
        { part: 'audit', label: 'Audit log', href: `/admin/console/audit?subject=${id}` },
      ],
    },
    page,
  );
