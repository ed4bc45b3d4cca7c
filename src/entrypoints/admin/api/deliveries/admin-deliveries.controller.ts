import { Controller, Get, Post, Query, UseGuards } from '@nestjs/common';
import type { Actor } from '#records/audit/audit.service.js';
import { ApiAnswer, ApiPage, ApiProblems, PathId } from '#platform/http/api/api-answers.js';
import { listAnswer, type ListAnswer } from '#platform/http/api/list-answer.js';
import { pageRequestOf } from '#platform/http/api/page-query.js';
import { CurrentActor } from '#access/tokens/access/current-principal.decorator.js';
import { DeliveriesService } from '#events/webhooks/deliveries/deliveries.service.js';
import { AdminApi, AdminRead, AdminWrite } from '../admin-api.decorator.js';
import { DeliveriesQuery, DeliveryDetailView, DeliveryView } from './admin-deliveries.dto.js';
import { EmptyBodyGuard } from '#platform/http/api/empty-body.guard.js';

/** Deliveries of webhooks in the admin API (contract §12). */
@Controller('admin/deliveries')
@AdminApi()
export class AdminDeliveriesController {
  constructor(private readonly deliveries: DeliveriesService) {}

  @Get()
  @AdminRead('listDeliveries', 'Deliveries, newest first', 'All given filters must match.')
  @ApiPage(DeliveryView)
  async list(@Query() query: DeliveriesQuery): Promise<ListAnswer<DeliveryView>> {
    const filter = { clientId: query.client_id, endpointId: query.endpoint_id, state: query.state };
    return listAnswer(await this.deliveries.list(filter, pageRequestOf(query)), DeliveryView.of);
  }

  @Get(':id')
  @AdminRead(
    'getDelivery',
    'Get a delivery with its attempts',
    'With the payload, and the response to each attempt.',
  )
  @ApiAnswer(200, 'The delivery.', DeliveryDetailView)
  async get(@PathId('id', 'dlvr') id: string): Promise<DeliveryDetailView> {
    return DeliveryDetailView.of(await this.deliveries.get(id));
  }

  @Post(':id/resend')
  @AdminWrite(
    'resendDelivery',
    'Resend a delivery, with the same `webhook-id`',
    'It is due immediately. While an attempt is running: 409.',
    'support',
  )
  @ApiAnswer(202, 'It is due immediately.', DeliveryDetailView)
  @ApiProblems(409)
  @UseGuards(EmptyBodyGuard)
  async resend(@PathId('id', 'dlvr') id: string, @CurrentActor() actor: Actor): Promise<DeliveryDetailView> {
    return DeliveryDetailView.of(await this.deliveries.resend(id, undefined, actor));
  }
}
