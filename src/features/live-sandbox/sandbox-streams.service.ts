import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { Readable } from 'node:stream';
import { rateLimitExceeded, serviceUnavailable } from '#platform/http/problems/problem.js';
import { detached } from '#platform/telemetry/log-scope.js';
import type { PortalVisitor } from '#entrypoints/webhook-portal/access/portal-visitor.js';
import { SandboxStatesRepository } from './sandbox-states.repository.js';
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

// A reader that takes nothing is cut off, and connects again.
const MOST_WAITING_BYTES = 16_384;

/** One page that follows a sandbox by Server-Sent Events, which say that something has changed, never what. */
class SandboxStream extends Readable {
  /** Monotonic, in milliseconds. */
  readonly openedAt = performance.now();
  lastWriteAt = this.openedAt;
  /** What the sandbox looked like when its reader was last told. */
  state: string | undefined;

  constructor(readonly visitor: PortalVisitor) {
    super({ read: () => undefined });
  }

  /** The session of the reader. */
  get session(): string {
    return this.visitor.sessionDigest.toString('base64url');
  }

  /** Tells the reader to reload the page's contents. */
  tellChange(): void {
    this.write('event: change\ndata: {}\n\n');
  }

  /** A comment shows that the stream is alive. */
  comment(): void {
    this.write(': alive\n\n');
  }

  /** Ends the response after what was written. */
  finish(): void {
    if (!this.destroyed) this.push(null);
  }

  private write(text: string): void {
    if (this.destroyed || this.readableEnded) return;
    this.lastWriteAt = performance.now();
    this.push(text);
    if (this.readableLength > MOST_WAITING_BYTES) this.destroy();
  }
}

/** Contract §19. */
export const STREAMS_PER_SESSION = 4;
export const STREAMS_PER_CLIENT = 20;
const STREAMS_PER_INSTANCE = 500;
const LOOK_EVERY_MS = 1_000;
const COMMENT_AFTER_MS = 15_000;
// Then the page connects again, and everything that a session depends on is checked again.
const LIFETIME_MS = 60_000;

/**
 * Tells open sandbox pages by Server-Sent Events when something has changed. Any instance may have changed it, so this one checks the
 * database: once a second, with one statement for all its pages, and only if there are any.
 */
@Injectable()
export class SandboxStreams implements OnModuleDestroy {
  private readonly logger = new Logger(SandboxStreams.name);
  private readonly streams = new Set<SandboxStream>();
  private looking: NodeJS.Timeout | undefined;
  private isReading = false;
  private stopping = false;

  constructor(private readonly states: SandboxStatesRepository) {}

  onModuleDestroy(): void {
    this.stopping = true;
    this.endAll();
  }

  /** Throws a 429 problem if the session or the client has too many, and a 503 problem if this instance has. */
  open(visitor: PortalVisitor): SandboxStream {
    if (this.stopping) throw unavailable('The service is stopping.');
    if (this.streams.size >= STREAMS_PER_INSTANCE)
      throw unavailable('Too many pages follow their sandboxes.');
    const stream = new SandboxStream(visitor);
    const ofClient = [...this.streams].filter((other) => other.visitor.clientId === visitor.clientId);
    const ofSession = ofClient.filter(({ session }) => session === stream.session);
    if (ofSession.length >= STREAMS_PER_SESSION) {
      throw tooMany(`This session already follows its sandbox ${STREAMS_PER_SESSION} times.`);
    }
    if (ofClient.length >= STREAMS_PER_CLIENT) {
      throw tooMany(`${STREAMS_PER_CLIENT} pages already follow the sandbox of this client.`);
    }
    this.streams.add(stream);
    stream.once('close', () => this.remove(stream));
    stream.comment();
    // oxlint-disable-next-line no-restricted-globals -- looks only while pages are open
    this.looking ??= detached(() => setInterval(() => void this.look(), LOOK_EVERY_MS).unref());
    return stream;
  }

  private remove(stream: SandboxStream): void {
    this.streams.delete(stream);
    if (this.streams.size > 0) return;
    clearInterval(this.looking);
    this.looking = undefined;
  }

  private async look(): Promise<void> {
    if (this.isReading || this.streams.size === 0) return;
    this.isReading = true;
    const asked = [...this.streams];
    try {
      const read = await this.states.read(asked.map(({ visitor }) => visitor));
      const states = new Map(read.map((each) => [each.sessionDigest.toString('base64url'), each.state]));
      for (const stream of asked) this.tell(stream, states.get(stream.session));
    } catch (error) {
      this.logger.debug(`The sandboxes could not be read: ${(error as Error).message}`);
      this.endAll();
    } finally {
      this.isReading = false;
    }
  }

  /** Without a state, the session has ended. */
  private tell(stream: SandboxStream, state: string | undefined): void {
    const now = performance.now();
    if (state === undefined || now - stream.openedAt >= LIFETIME_MS) return stream.finish();
    // The page may be older than the first check.
    if (state !== stream.state) stream.tellChange();
    else if (now - stream.lastWriteAt >= COMMENT_AFTER_MS) stream.comment();
    stream.state = state;
  }

  private endAll(): void {
    for (const stream of this.streams) stream.finish();
  }
}

const tooMany = (detail: string) =>
  rateLimitExceeded(`${detail} Please close a page first.`, { headers: { 'retry-after': '5' } });

const unavailable = (detail: string) =>
  serviceUnavailable(`${detail} Please try again shortly.`, { headers: { 'retry-after': '5' } });
