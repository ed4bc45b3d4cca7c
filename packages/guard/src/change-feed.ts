import { createParser } from 'eventsource-parser';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { agentFor, startRequest } from './http-exchange.js';
import type { Change } from './changes.js';
import type { GuardSettings } from './options.js';
import { ownHeaders, ownToken } from './own-token.js';

/** The service sends at least a comment every 5 seconds; what is silent for longer counts as gone. */
const SILENCE_MS = 6_000;
const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 5_000;
const MOST_EVENT_CHARACTERS = 65_536;

/** Callbacks of the feed. */
export interface FeedListener {
  onChange(change: Change): void;
}

class FeedError extends Error {}

/**
 * Follows the changes to access (contract §23 of the service) on one connection, resumes where it was cut, and gets new tokens as
 * needed. It never keeps the process alive.
 */
export class ChangeFeed {
  private readonly agent;
  private request: ClientRequest | undefined;
  private wait: NodeJS.Timeout | undefined;
  private waitMs = 0;
  private token: string | undefined;
  private position: string | undefined;
  private isCaughtUp = false;
  private heardAt = -Infinity;
  private isClosed = false;
  private lastProblem: string | undefined;
  /** Counts connections: what began on one and ended on another may have missed something. */
  connection = 0;

  constructor(
    private readonly settings: GuardSettings,
    private readonly listener: FeedListener,
  ) {
    this.agent = agentFor(settings.url, 2);
  }

  start(): void {
    void this.connect();
  }

  close(): void {
    this.isClosed = true;
    this.isCaughtUp = false;
    clearTimeout(this.wait);
    this.request?.destroy();
    this.agent.destroy();
  }

  /** Whether every change until now is known, but for what is on its way. */
  get isLive(): boolean {
    return this.isCaughtUp && performance.now() - this.heardAt < SILENCE_MS;
  }

  private async connect(): Promise<void> {
    const isNew = this.token === undefined;
    try {
      this.token ??= await ownToken(this.settings, this.agent, 'the feed of changes');
      if (this.isClosed) return;
      const ended = await this.follow(this.token);
      if (ended === 401) this.token = undefined;
      // Only of a token that was used before it is no surprise that it has ended.
      if (ended !== 'cut' && (ended !== 401 || isNew))
        throw new FeedError(`the feed of changes was answered with ${ended}`);
    } catch (error) {
      this.tell((error as Error).message);
    }
    this.isCaughtUp = false;
    if (this.isClosed) return;
    // At once after a connection that worked; all services of a restarted instance come back over a while.
    const wait = this.waitMs * (0.5 + Math.random() / 2);
    this.waitMs = Math.min(LONGEST_WAIT_MS, Math.max(FIRST_WAIT_MS, this.waitMs * 2));
    this.wait = setTimeout(() => void this.connect(), wait).unref();
  }

  /** Resolves when the connection has ended: with the status if it was refused. */
  private async follow(token: string): Promise<number | 'cut'> {
    const url = `${this.settings.url}/v2/access_changes`;
    const asked = this.settings.ownKey?.nonce;
    const own = await ownHeaders(this.settings, token, 'GET', url);
    if (this.isClosed) return 'cut';
    return new Promise((resolve, reject) => {
      const headers = {
        ...own,
        accept: 'text/event-stream',
        ...(this.position === undefined ? {} : { 'last-event-id': this.position }),
      };
      const { agent } = this;
      const request = startRequest({ agent, url, headers });
      this.request = request;
      request.setTimeout(SILENCE_MS, () => request.destroy(new FeedError('the feed of changes is silent')));
      request.on('socket', (socket) => socket.unref());
      request.on('error', reject);
      request.on('response', (response) => {
        const { statusCode } = response;
        if (statusCode !== 200) {
          response.resume();
          // With the nonce that it wants (RFC 9449 §8) the same token will do.
          return resolve(this.settings.ownKey?.take(response.headers, asked) ? 'cut' : statusCode!);
        }
        this.read(response);
        response.on('error', reject);
        response.on('close', () => resolve('cut'));
      });
    });
  }

  private read(response: IncomingMessage): void {
    this.connection++;
    const parser = createParser({
      maxBufferSize: MOST_EVENT_CHARACTERS,
      onEvent: ({ event, id, data }) => {
        this.take(event, data);
        // Only now: a position is kept for what was taken.
        if (id !== undefined) this.position = id;
      },
      onComment: (position) => {
        if (position !== '') this.position = position;
        this.isCaughtUp = true;
        this.waitMs = 0;
        this.tell(undefined);
      },
      onError: ({ type }) => type === 'max-buffer-size-exceeded' && void response.destroy(),
    });
    response.setEncoding('utf8');
    response.on('data', (text: string) => {
      this.heardAt = performance.now();
      parser.feed(text);
    });
  }

  /** Anything that it does not understand means: forget everything. */
  private take(event: string | undefined, data: string): void {
    this.listener.onChange(event === 'change' ? changeIn(data) : {});
  }

  /** Tells a problem once, and its end. */
  private tell(problem: string | undefined): void {
    if (this.isClosed || problem === this.lastProblem) return;
    const { warn } = this.settings;
    if (problem === undefined) warn('The changes to access are followed again.');
    else warn(`The changes to access are not followed, so answers are remembered for a second: ${problem}`);
    this.lastProblem = problem;
  }
}

function changeIn(data: string): Change {
  try {
    const { client_id: clientId, user_id: userId } = JSON.parse(data) as Record<string, unknown>;
    return {
      ...(typeof clientId === 'string' ? { clientId } : {}),
      ...(typeof userId === 'string' ? { userId } : {}),
    };
  } catch {
    return {};
  }
}
