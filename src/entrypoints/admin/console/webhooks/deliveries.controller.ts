import { Param } from '@nestjs/common';
import type { Page, PageRequest } from '#platform/database/queries/read-page.js';
import { ReadsMuch } from '#platform/http/page-routes/large-reads.js';
import { Context } from '#platform/http/page-routes/page-context.js';
import type { Delivery } from '#events/webhooks/deliveries/delivery.js';
import { DELIVERY_CSV } from '#events/webhooks/deliveries/delivery-csv.js';
import { DeliveriesService } from '#events/webhooks/deliveries/deliveries.service.js';
import type { ConsoleAnswer, ConsoleContext } from '../console-context.js';
import { ConsolePages, ConsolePost, ConsoleGet } from '../console-pages.decorator.js';
import { filteredList, exportedList } from '../filtered-list.js';
import { Pickers } from '../pickers.service.js';
import { attempt } from '../form-attempt.js';
import { deliveriesPage } from './deliveries.page.js';
import { deliveryPage } from './delivery.page.js';
import { timeInUtc } from '#platform/web/forms/utc-time.js';
import type { FieldErrors } from '#platform/web/forms/field.js';
import { deliveryPath } from '../pages/resource-link.js';
import { IsLine, IsOptionalNotNull, IsTimeOrDay } from '#platform/http/validation/validation.decorators.js';
import { DeliveriesQuery } from '../../api/deliveries/admin-deliveries.dto.js';

/** The filter of the console's deliveries: as in the admin API, the event type, and when they were created. */
class ConsoleDeliveriesQuery extends DeliveriesQuery {
  @IsOptionalNotNull() @IsLine(1, 100) type?: string;
  @IsOptionalNotNull() @IsTimeOrDay() from?: string;
  /** Exclusive. */
  @IsOptionalNotNull() @IsTimeOrDay() to?: string;
}

/** Deliveries of all clients: list, view, resend. */
@ConsolePages('deliveries')
export class ConsoleDeliveriesController {
  constructor(
    private readonly deliveries: DeliveriesService,
    private readonly pickers: Pickers,
  ) {}

  @ConsoleGet('', 'not asked', 'viewer')
  async list(@Context() context: ConsoleContext): Promise<ConsoleAnswer> {
    const list = await filteredList(ConsoleDeliveriesQuery, context.url, this.read);
    const [names, clients, endpoints, types] = await Promise.all([
      this.pickers.namesOf((list.page?.items ?? []).map(({ clientId }) => clientId)),
      this.pickers.clients(),
      this.pickers.endpoints(),
      this.pickers.eventTypes(),
    ]);
    const page = deliveriesPage({ list, url: context.url, names, offers: { clients, endpoints, types } });
    return { page, status: list.errors ? 400 : 200 };
  }

  @ConsoleGet('csv', 'not asked', 'viewer')
  @ReadsMuch()
  download(@Context() { url }: ConsoleContext): Promise<ConsoleAnswer> {
    return exportedList('deliveries.csv', DELIVERY_CSV, ConsoleDeliveriesQuery, url, this.read);
  }

  @ConsoleGet(':id', 'not asked', 'viewer')
  show(@Param('id') id: string): Promise<ConsoleAnswer> {
    return this.page(id);
  }

  /** Resends it; while an attempt is running, the page says so. */
  @ConsolePost(':id/resend', 'not asked', 'support')
  async resend(@Context() context: ConsoleContext, @Param('id') id: string): Promise<ConsoleAnswer> {
    const { errors } = await attempt(() => this.deliveries.resend(id, undefined, context.actor));
    return errors ? this.page(id, errors) : { goTo: deliveryPath(id), notice: 'delivery_resent' };
  }

  private readonly read = (
    { client_id: clientId, endpoint_id: endpointId, state, type, from, to }: ConsoleDeliveriesQuery,
    page: PageRequest,
  ): Promise<Page<Delivery>> =>
    this.deliveries.list(
      { clientId, endpointId, state, eventType: type, from: timeOf(from), to: timeOf(to) },
      page,
    );

  private async page(id: string, errors?: FieldErrors): Promise<ConsoleAnswer> {
    const delivery = await this.deliveries.get(id);
    const names = await this.pickers.namesOf([delivery.clientId, delivery.userId]);
    return { page: deliveryPage({ delivery, names, errors }), status: errors ? 409 : 200 };
  }
}

const timeOf = (text: string | undefined): Date | undefined => (text ? timeInUtc(text) : undefined);
