import type { VNode } from 'preact';
import type { ClientEntity } from '../../../clients/client.entity.js';
import { Navigation } from '../../../http/pages/navigation.js';
import { renderConsolePage, type ConsolePageProps } from '../pages/console-layout.js';

export const CLIENTS_PATH = '/admin/console/clients';

export const clientPath = (id: string, part = ''): string => `${CLIENTS_PATH}/${id}${part && `/${part}`}`;

/** The pages about one client. */
const PARTS = {
  '': 'Client',
  refusals: 'Refusals',
  consents: 'Consents',
  grants: 'Active grants',
} as const;

export interface ClientPageProps extends Omit<ConsolePageProps, 'title' | 'part' | 'above'> {
  client: ClientEntity;
  title?: string;
  part?: keyof typeof PARTS;
}

/** A page about one client: its name, and links to the other pages about it. */
export function renderClientPage({ client, title, part, children, ...page }: ClientPageProps): string {
  return renderConsolePage({
    ...page,
    part: 'clients',
    title: title ?? client.name,
    above: [
      { href: CLIENTS_PATH, label: 'Clients' },
      ...(title === undefined ? [] : [{ href: clientPath(client.id), label: client.name }]),
    ],
    children: (
      <>
        {part !== undefined && <ClientNavigation client={client} current={part} />}
        {children}
      </>
    ),
  });
}

function ClientNavigation({ client, current }: { client: ClientEntity; current: string }): VNode {
  const links = [
    ...Object.entries(PARTS).map(([part, label]) => ({ part, label, href: clientPath(client.id, part) })),
    { part: 'endpoints', label: 'Endpoints', href: `/admin/console/endpoints?client_id=${client.id}` },
    { part: 'deliveries', label: 'Deliveries', href: `/admin/console/deliveries?client_id=${client.id}` },
    { part: 'audit', label: 'Audit log', href: `/admin/console/audit?subject=${client.id}` },
  ];
  return <Navigation class="sub-nav" label={`About ${client.name}`} links={links} current={current} />;
}
