import type { ServerResponse } from 'node:http';
import { Receiver } from '../receiver.js';

/** A partner's server that can keep its responses back. */
export class HeldReceiver {
  private held?: ServerResponse[];

  private constructor(readonly receiver: Receiver) {}

  static async start(): Promise<HeldReceiver> {
    const receiver = await Receiver.start((response) => {
      if (held.held) held.held.push(response);
      else response.end('ok');
    });
    const held: HeldReceiver = new HeldReceiver(receiver);
    return held;
  }

  get url(): string {
    return this.receiver.url('');
  }

  /** How many deliveries have arrived. */
  get received(): number {
    return this.receiver.requests.length;
  }

  hold(): void {
    this.held = [];
  }

  release(): void {
    for (const response of this.held ?? []) response.end('ok');
    this.held = undefined;
  }

  stop(): Promise<void> {
    return this.receiver.stop();
  }
}
