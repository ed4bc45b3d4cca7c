import { randomUUID } from 'node:crypto';
import type { Agent } from 'node:http';
import { DisclosureCounts } from './disclosure-counts.js';
import { agentFor } from './http-exchange.js';
import type { GuardSettings } from './options.js';
import { exchangeProven, ownToken } from './own-token.js';

const EVERY_MS = 5_000;
const LONGEST_WAIT_MS = 60_000;
// About 300 bytes each.
const MOST_COUNTED = 20_000;
/** How long the last reports may take. */
const CLOSING_MS = 3_000;

/** A report that is sent until it is answered, always the same. */
interface Batch {
  body: string;
  size: number;
}

/** How many disclosures were reported, wait to be, or were lost. */
export interface ReportStatistics {
  reported: number;
  waiting: number;
  lost: number;
}

/**
 * Reports what was served (contract §26 of the service), many at once, every few seconds. A report that may not have arrived is sent again
 * as the same one, which counts once. It never throws, never waits in a request, and never keeps the process alive but while it closes.
 */
export class DisclosureReports {
  private readonly agent: Agent;
  private readonly counts = new DisclosureCounts(MOST_COUNTED);
  private batch: Batch | undefined;
  private timer: NodeJS.Timeout | undefined;
  private waitMs = EVERY_MS;
  private token: string | undefined;
  private sending: Promise<void> | undefined;
  private closing: Promise<void> | undefined;
  private lastProblem: string | undefined;
  private reported = 0;
  private lost = 0;

  constructor(private readonly settings: GuardSettings) {
    this.agent = agentFor(settings.url, 1);
  }

  get statistics(): ReportStatistics {
    const waiting = this.counts.size + (this.batch?.size ?? 0);
    return { reported: this.reported, waiting, lost: this.lost };
  }

  /** Notes that data of a user was served to a client. */
  note(clientId: string, userId: string, scopes: readonly string[]): void {
    if (this.closing) return;
    for (const scope of scopes) {
      if (this.counts.add(clientId, userId, scope)) continue;
      this.lose(1, 'too many at once wait to be reported');
    }
    if (this.counts.size > 0) this.schedule();
  }

  /** Reports what is left, for three seconds at most, and closes the connection. */
  close(): Promise<void> {
    this.closing ??= this.finish();
    return this.closing;
  }

  private schedule(): void {
    if (this.timer !== undefined || this.sending || this.closing) return;
    this.timer = setTimeout(() => {
      this.timer = undefined;
      void this.send();
    }, this.waitMs).unref();
  }

  /** Sends what there is; one at a time. */
  private send(): Promise<void> {
    this.sending ??= this.sendAll().finally(() => {
      this.sending = undefined;
      if (this.batch || this.counts.size > 0) this.schedule();
    });
    return this.sending;
  }

  /** Until nothing is left, or a report has to wait. */
  private async sendAll(): Promise<void> {
    for (this.batch ??= this.next(); this.batch; this.batch = this.next()) {
      try {
        await this.report(this.batch);
      } catch (error) {
        this.waitMs = Math.min(LONGEST_WAIT_MS, this.waitMs * 2);
        return this.tell(`What was read is reported later: ${(error as Error).message}`);
      }
      this.waitMs = EVERY_MS;
    }
  }

  private next(): Batch | undefined {
    const disclosures = this.counts.take();
    if (disclosures.length === 0) return undefined;
    return { body: JSON.stringify({ batch_id: randomUUID(), disclosures }), size: disclosures.length };
  }

  /** Resolves once it is answered for good, and rejects if it is to be sent again. */
  private async report({ body, size }: Batch): Promise<void> {
    let status = await this.post(body);
    if (status === 401) {
      this.token = undefined;
      status = await this.post(body);
    }
    if (status === 200) {
      this.reported += size;
      return this.tell(undefined);
    }
    if (status === 401 || status === 408 || status === 429 || status >= 500 || status < 400) {
      this.token = status === 401 ? undefined : this.token;
      throw new Error(`the report was answered with ${status}`);
    }
    this.lose(size, `the report was answered with ${status}`);
  }

  private async post(json: string): Promise<number> {
    const { agent, settings } = this;
    this.token ??= await ownToken(settings, agent, 'reports of what was read');
    const { status } = await exchangeProven(settings, this.token, {
      agent,
      url: `${settings.url}/v2/disclosures`,
      headers: { accept: 'application/json' },
      json,
      timeoutMs: settings.timeoutMs,
    });
    return status;
  }

  private async finish(): Promise<void> {
    clearTimeout(this.timer);
    let timer: NodeJS.Timeout | undefined;
    const tooLate = new Promise<void>((resolve) => (timer = setTimeout(resolve, CLOSING_MS)));
    // What is being sent now, and what was noted in the meantime.
    await Promise.race([this.send().then(() => this.send()), tooLate]);
    clearTimeout(timer);
    this.agent.destroy();
    const { waiting } = this.statistics;
    if (waiting > 0) this.lose(waiting, 'the service did not answer before the guard was closed');
  }

  private lose(count: number, why: string): void {
    this.lost += count;
    this.tell(`Some of what was read is not reported: ${why}`);
  }

  /** Tells a problem once, and its end. */
  private tell(problem: string | undefined): void {
    if (problem === this.lastProblem) return;
    this.settings.warn(problem ?? 'What was read is reported again.');
    this.lastProblem = problem;
  }
}
