import { Injectable } from '@nestjs/common';
import { AuditService } from '#records/audit/audit.service.js';
import { ClientsService } from '#access/clients/clients.service.js';
import type { Page } from '#platform/database/queries/read-page.js';
import { isId } from '#platform/secrets/ids.js';
import type { HitsOfKind } from '#platform/web/search/hits.js';
import { GrantsService } from '#access/tokens/grants/grants.service.js';
import { UsersService } from '#access/users/accounts/users.service.js';
import { DeliveriesService } from '#events/webhooks/deliveries/deliveries.service.js';
import { EndpointsService } from '#events/webhooks/endpoints/endpoints.service.js';
import { clientPath } from '../clients/client-layout.js';
import { pathWith } from '../pages/lists.js';
import { userPath } from '../users/user-layout.js';
import {
  explanationPath,
  DELIVERIES_PATH,
  deliveryPath,
  ENDPOINTS_PATH,
  endpointPath,
} from '../pages/resource-link.js';
import { KnownRequests } from '#events/partners/request-log/known-requests.service.js';

const PAGE = { size: 10 };

/** Searches everything by what an operator may have: an id of any kind, an address, a name, a host. */
@Injectable()
export class ConsoleSearch {
  constructor(
    private readonly clients: ClientsService,
    private readonly users: UsersService,
    private readonly endpoints: EndpointsService,
    private readonly deliveries: DeliveriesService,
    private readonly grants: GrantsService,
    private readonly audit: AuditService,
    private readonly requests: KnownRequests,
  ) {}

  /** The results by kind; kinds without a hit are left out. */
  async find(wanted: string): Promise<HitsOfKind[]> {
    const found = await Promise.all([
      this.requestsWith(wanted),
      this.clientsWith(wanted),
      this.usersWith(wanted),
      this.endpointsWith(wanted),
      this.deliveriesOf(wanted),
      this.grantsWith(wanted),
    ]);
    const hits = found.filter(({ hits: { length } }) => length > 0);
    if (hits.length > 0) return hits;
    return [await this.auditOf(wanted)].filter(({ hits: { length } }) => length > 0);
  }

  private async requestsWith(id: string): Promise<HitsOfKind> {
    const [first] = await this.requests.withId(id);
    const hit = first && {
      label: `${first.method} ${first.route}`,
      detail: String(first.status),
      href: explanationPath(id),
    };
    return { kind: 'Requests', hits: hit ? [hit] : [] };
  }

  private async clientsWith(q: string): Promise<HitsOfKind> {
    const page = await this.clients.list({ q }, PAGE);
    const hits = page.items.map(({ id, name, environment }) => ({
      label: name,
      detail: id,
      href: clientPath(id),
      environment,
    }));
    return { kind: 'Clients', hits, rest: restOf(page, pathWith('/admin/console/clients', { q })) };
  }

  private async usersWith(q: string): Promise<HitsOfKind> {
    const page = await this.users.list({ q }, PAGE);
    const hits = page.items.map(({ id, name, email, environment }) => ({
      label: name,
      detail: email,
      href: userPath(id),
      environment,
    }));
    return { kind: 'Users', hits, rest: restOf(page, pathWith('/admin/console/users', { q })) };
  }

  private async endpointsWith(wanted: string): Promise<HitsOfKind> {
    const filter = isId('endp', wanted) ? { id: wanted } : { url: wanted };
    const page = await this.endpoints.listAll(filter, PAGE);
    const hits = page.items.map(({ id, url, clientName }) => ({
      label: url,
      detail: clientName,
      href: endpointPath(id),
    }));
    return { kind: 'Endpoints', hits, rest: restOf(page, ENDPOINTS_PATH) };
  }

  private async deliveriesOf(id: string): Promise<HitsOfKind> {
    const filter = isId('dlvr', id) ? { id } : isId('evnt', id) ? { eventId: id } : undefined;
    if (!filter) return { kind: 'Deliveries', hits: [] };
    const page = await this.deliveries.list(filter, PAGE);
    const hits = page.items.map((each) => ({
      label: `${each.eventType}, ${each.state}`,
      detail: each.endpointUrl,
      href: deliveryPath(each.id),
    }));
    return { kind: 'Deliveries', hits, rest: restOf(page, DELIVERIES_PATH) };
  }

  private async grantsWith(id: string): Promise<HitsOfKind> {
    const grant = isId('grnt', id) ? await this.grants.find(id) : null;
    const hit = grant && { label: id, detail: grant.clientId, href: `${userPath(grant.userId)}/grants` };
    return { kind: 'Grants', hits: hit ? [hit] : [] };
  }

  /** Anything deleted, or without its own page, can still be in the audit log. */
  private async auditOf(subject: string): Promise<HitsOfKind> {
    const { items } = await this.audit.list({ subject }, { size: 1 });
    const hit = { label: subject, href: pathWith('/admin/console/audit', { subject }) };
    return { kind: 'Audit log', hits: items.map(() => hit) };
  }
}

const restOf = <T>({ hasNext }: Page<T>, path: string): string | undefined => (hasNext ? path : undefined);
