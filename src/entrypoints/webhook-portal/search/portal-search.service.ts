import { Injectable } from '@nestjs/common';
import { MembersService } from '#events/partners/members/members.service.js';
import { KnownRequests } from '#events/partners/request-log/known-requests.service.js';
import { isId } from '#platform/secrets/ids.js';
import type { HitsOfKind } from '#platform/web/search/hits.js';
import { DeliveriesService } from '#events/webhooks/deliveries/deliveries.service.js';
import { EndpointsService } from '#events/webhooks/endpoints/endpoints.service.js';
import type { PortalVisitor } from '../access/portal-visitor.js';
import { requestPath } from '../application/requests.page.js';
import { STATE_LABELS } from '#events/webhooks/deliveries/delivery-state.js';
import { endpointPath } from '../endpoints/about-endpoint.js';

const PAGE = { size: 10 };

/** What of one kind is found, of the client or the organisation of a visitor. */
type FindsKind = (wanted: string, visitor: PortalVisitor) => Promise<Found>;
type Found = Omit<HitsOfKind, 'kind'>;

/** Finds what belongs to the client of a portal, and nothing else, by an id, part of a URL or an address. */
@Injectable()
export class PortalSearch {
  private readonly kinds: [kind: string, find: FindsKind][];

  constructor(
    private readonly requests: KnownRequests,
    private readonly deliveries: DeliveriesService,
    private readonly endpoints: EndpointsService,
    private readonly members: MembersService,
  ) {
    this.kinds = [
      ['Requests', (wanted, { clientId }) => this.requestsWith(wanted, clientId)],
      ['Deliveries', (wanted, { clientId }) => this.deliveriesOf(wanted, clientId)],
      ['Endpoints', (wanted, { clientId }) => this.endpointsWith(wanted, clientId)],
      ['Members', (wanted, { ownerId }) => this.membersWith(wanted, ownerId)],
    ];
  }

  /** Adds a kind of things that a feature knows, behind another kind. */
  add(kind: string, behind: string, find: FindsKind): void {
    this.kinds.splice(this.kinds.findIndex(([name]) => name === behind) + 1, 0, [kind, find]);
  }

  /** The results by kind; kinds without a hit are left out. */
  async find(wanted: string, visitor: PortalVisitor): Promise<HitsOfKind[]> {
    const found = await Promise.all(
      this.kinds.map(async ([kind, find]) => ({ kind, ...(await find(wanted, visitor)) })),
    );
    return found.filter(({ hits: { length } }) => length > 0);
  }

  private async requestsWith(id: string, clientId: string): Promise<Found> {
    const [first] = await this.requests.withId(id, clientId);
    const hit = first && {
      label: `${first.method} ${first.route}`,
      detail: String(first.status),
      href: requestPath(id),
    };
    return { hits: hit ? [hit] : [] };
  }

  private async deliveriesOf(id: string, clientId: string): Promise<Found> {
    const filter = isId('dlvr', id) ? { id } : isId('evnt', id) ? { eventId: id } : undefined;
    if (!filter) return { hits: [] };
    const { items } = await this.deliveries.list({ ...filter, clientId }, PAGE);
    const hits = items.map((each) => ({
      label: `${each.eventType}, ${STATE_LABELS[each.state]}`,
      detail: each.endpointUrl,
      href: `/portal/deliveries/${each.id}`,
    }));
    return { hits };
  }

  private async endpointsWith(wanted: string, clientId: string): Promise<Found> {
    const filter = isId('endp', wanted) ? { id: wanted } : { url: wanted };
    const { items, hasNext } = await this.endpoints.listAll({ ...filter, clientId }, PAGE);
    const hits = items.map(({ id, url }) => ({ label: url, href: endpointPath(id) }));
    return { hits, rest: hasNext ? '/portal' : undefined };
  }

  private async membersWith(wanted: string, organisationId: string): Promise<Found> {
    const found = (await this.members.all(organisationId)).filter(
      ({ name, email }) => contains(name, wanted) || contains(email, wanted),
    );
    const hits = found.map(({ name, email }) => ({ label: name, detail: email, href: '/portal/members' }));
    return { hits };
  }
}

/** Whether a text has this part, in whatever case. */
export const contains = (text: string, part: string): boolean =>
  text.toLowerCase().includes(part.toLowerCase());
