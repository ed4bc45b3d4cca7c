import { Injectable } from '@nestjs/common';
import { RequestLogService } from '#events/partners/request-log/request-log.service.js';
import type { Driver } from '#events/sandbox/driver.js';
import { DeliveriesService } from '#events/webhooks/deliveries/deliveries.service.js';
import { EndpointsService } from '#events/webhooks/endpoints/endpoints.service.js';
import { RecentEventsService } from '#events/webhooks/events/recent-events.service.js';
import type { LiveDriverProps } from './live-driver.js';
import { COURSE_EVENTS, COURSE_TYPES, courseOf } from './session-course.js';
import { sinceFaults, TIME_LINE_LENGTH } from './time-line.js';

/**
 * What a driver does, and what the client receives. The vehicle is shown whether or not the driver shares data with the client: all of
 * its numbers follow from the seed, which the page also shows.
 */
@Injectable()
export class LiveDrivers {
  constructor(
    private readonly deliveries: DeliveriesService,
    private readonly endpoints: EndpointsService,
    private readonly events: RecentEventsService,
    private readonly requests: RequestLogService,
  ) {}

  async of(driver: Driver, clientId: string): Promise<Omit<LiveDriverProps, 'faults'>> {
    const [events, deliveries, requests, endpoints] = await Promise.all([
      this.events.about(driver.id, COURSE_TYPES, COURSE_EVENTS),
      this.deliveries.newestAbout(driver.id, clientId, TIME_LINE_LENGTH),
      this.requests.list(clientId, {}),
      this.endpoints.list(clientId, { size: 1 }),
    ]);
    return {
      driver,
      course: courseOf(events),
      deliveries,
      requests: sinceFaults(requests).slice(0, TIME_LINE_LENGTH),
      hasEndpoint: endpoints.items.length > 0,
      now: new Date(),
    };
  }
}
