import { Injectable } from '@nestjs/common';
import { MembersService } from '#events/partners/members/members.service.js';
import { KnownRequests } from '#events/partners/request-log/known-requests.service.js';
import { isId } from '#platform/secrets/ids.js';
import type { HitsOfKind } from '#platform/web/search/hits.js';
import { ContactsService } from '#events/webhooks/contacts/contacts.service.js';
import { DeliveriesService } from '#events/webhooks/deliveries/deliveries.service.js';
import { EndpointsService } from '#events/webhooks/endpoints/endpoints.service.js';
import type { PortalVisitor } from '../access/portal-visitor.js';
import { requestPath } from '../application/requests.page.js';
import { STATE_LABELS } from '../deliveries/delivery-rows.js';
import { endpointPath } from '../endpoints/about-endpoint.js';

const PAGE = { size: 10 };

/** Finds what belongs to the client of a portal, and nothing else, by an id, part of a URL or an address. */
@Injectable()
export class PortalSearch {
  constructor(
    private readonly requests: KnownRequests,
    private readonly deliveries: DeliveriesService,
    private readonly endpoints: EndpointsService,
    private readonly contacts: ContactsService,
    private readonly members: MembersService,
  ) {}

  /** The results by kind; kinds without a hit are left out. */
  async find(wanted: string, { clientId, ownerId }: PortalVisitor): Promise<HitsOfKind[]> {
    const found = await Promise.all([
      this.requestsWith(wanted, clientId),
      this.deliveriesOf(wanted, clientId),
      this.endpointsWith(wanted, clientId),
      this.contactsWith(wanted, clientId),
      this.membersWith(wanted, ownerId),
    ]);
    return found.filter(({ hits: { length } }) => length > 0);
  }

  private async requestsWith(id: string, clientId: string): Promise<HitsOfKind> {
    const [first] = await this.requests.withId(id, clientId);
    const hit = first && {
      label: `${first.method} ${first.route}`,
      detail: String(first.status),
      href: requestPath(id),
    };
    return { kind: 'Requests', hits: hit ? [hit] : [] };
  }

  private async deliveriesOf(id: string, clientId: string): Promise<HitsOfKind> {
    const filter = isId('dlvr', id) ? { id } : isId('evnt', id) ? { eventId: id } : undefined;
    if (!filter) return { kind: 'Deliveries', hits: [] };
    const { items } = await this.deliveries.list({ ...filter, clientId }, PAGE);
    const hits = items.map((each) => ({
      label: `${each.eventType}, ${STATE_LABELS[each.state]}`,
      detail: each.endpointUrl,
      href: `/portal/deliveries/${each.id}`,
    }));
    return { kind: 'Deliveries', hits };
  }

  private async endpointsWith(wanted: string, clientId: string): Promise<HitsOfKind> {
    const filter = isId('endp', wanted) ? { id: wanted } : { url: wanted };
    const { items, hasNext } = await this.endpoints.listAll({ ...filter, clientId }, PAGE);
    const hits = items.map(({ id, url }) => ({ label: url, href: endpointPath(id) }));
    return { kind: 'Endpoints', hits, rest: hasNext ? '/portal' : undefined };
  }

  private async contactsWith(wanted: string, clientId: string): Promise<HitsOfKind> {
    const found = (await this.contacts.list(clientId)).filter(({ email }) => contains(email, wanted));
    const hits = found.map(({ email }) => ({ label: email, href: '/portal/contacts' }));
    return { kind: 'Contacts', hits };
  }

  private async membersWith(wanted: string, organisationId: string): Promise<HitsOfKind> {
    const found = (await this.members.all(organisationId)).filter(
      ({ name, email }) => contains(name, wanted) || contains(email, wanted),
    );
    const hits = found.map(({ name, email }) => ({ label: name, detail: email, href: '/portal/members' }));
    return { kind: 'Members', hits };
  }
}

const contains = (text: string, part: string): boolean => text.toLowerCase().includes(part.toLowerCase());
