import { setTimeout } from 'node:timers/promises';
import type { Settings } from '#platform/config/settings.js';
import { detached } from '#platform/telemetry/log-scope.js';
import { ownUrl } from './demo-receiver.routes.js';

/** Long enough to be seen. */
const BEFORE_RETRY_MS = 3_000;

/**
 * Stands in for what a partner's program does with an event: it asks who its users are, and once more if that failed, with a new token.
 * So a fault that was set in the sandbox is seen, and what follows it.
 */
export class DemoProgram {
  private token: string | undefined;
  private isAsking = false;

  constructor(
    private readonly settings: Pick<Settings, 'host' | 'port'>,
    private readonly client: { id: string; secret: string },
  ) {}

  /** Asks, unless it is asking already. What fails twice, it leaves. */
  onEvent(): void {
    if (this.isAsking) return;
    this.isAsking = true;
    detached(() => void this.ask().finally(() => (this.isAsking = false)));
  }

  private async ask(): Promise<void> {
    for (const isLast of [false, true]) {
      const answered = await this.askOnce().catch(() => false);
      if (answered || isLast) return;
      this.token = undefined;
      await setTimeout(BEFORE_RETRY_MS, undefined, { ref: false });
    }
  }

  private async askOnce(): Promise<boolean> {
    this.token ??= await this.newToken();
    const users = await fetch(ownUrl(this.settings, '/v2/users'), {
      headers: { authorization: `Bearer ${this.token}` },
    });
    await users.arrayBuffer();
    return users.ok;
  }

  private async newToken(): Promise<string> {
    const { id, secret } = this.client;
    const answer = await fetch(ownUrl(this.settings, '/o/token'), {
      method: 'POST',
      headers: { authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}` },
      body: new URLSearchParams({ grant_type: 'client_credentials' }),
    });
    if (!answer.ok) throw new Error(`The token endpoint answered ${answer.status}.`);
    return ((await answer.json()) as { access_token: string }).access_token;
  }
}
