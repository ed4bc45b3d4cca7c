import { request, type ClientRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { until } from './until.js';

/** An event of a stream, as it was sent. */
export interface StreamEvent {
  event: string;
  id: string;
  data: unknown;
}

export interface StreamOptions {
  bearer?: string;
  lastEventId?: string;
  headers?: Record<string, string>;
}

/** A reader of Server-Sent Events that keeps everything it was sent. */
export class EventStream {
  text = '';
  isOver = false;

  private constructor(
    private readonly asked: ClientRequest,
    private readonly response: IncomingMessage,
  ) {
    response.setEncoding('utf8');
    response.on('data', (text: string) => (this.text += text));
    response.on('error', () => undefined);
    response.on('close', () => (this.isOver = true));
  }

  /** Resolves with the head of the response, whatever its status. */
  static open(url: string, { bearer, lastEventId, headers }: StreamOptions = {}): Promise<EventStream> {
    return new Promise((resolve, reject) => {
      const asked = request(url, {
        agent: false,
        headers: {
          ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
          ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
          ...headers,
        },
      });
      asked.once('error', reject);
      asked.once('response', (response) => resolve(new EventStream(asked, response)));
      asked.end();
    });
  }

  get status(): number {
    return this.response.statusCode!;
  }

  get headers(): IncomingHttpHeaders {
    return this.response.headers;
  }

  /** The complete blocks, in their order. */
  private get blocks(): string[] {
    return this.text.split('\n\n').slice(0, -1);
  }

  get events(): StreamEvent[] {
    return this.blocks
      .filter((block) => block.startsWith('event: '))
      .map((block) => {
        const [, event, id, data] = /^event: (.+)\nid: (.+)\ndata: (.+)$/.exec(block)!;
        return { event: event!, id: id!, data: JSON.parse(data!) as unknown };
      });
  }

  get comments(): number {
    return this.blocks.filter((block) => block.startsWith(':')).length;
  }

  /** The position that a reader resumes from. */
  get position(): string {
    return [...this.text.matchAll(/^id: (.+)$/gm)].at(-1)![1]!;
  }

  /** Waits until everything that was missed has been sent. */
  async live(): Promise<this> {
    await until('the stream is live', () => this.isOver || this.comments > 0);
    return this;
  }

  async over(): Promise<void> {
    await until('the stream has ended', () => this.isOver);
  }

  close(): void {
    this.asked.destroy();
  }
}
