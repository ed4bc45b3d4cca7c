import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { setTimeout as pause } from 'node:timers/promises';
import { Gauge } from 'prom-client';
import type { AccessSubject } from '#platform/database/changes/access-subject.js';
import { AccessChanges, type Stamp } from '#platform/database/changes/access-changes.service.js';
import { rateLimitExceeded, serviceUnavailable } from '#platform/http/problems/problem.js';
import { detached } from '#platform/telemetry/log-scope.js';
import { AccessTokensService } from '#access/tokens/access/access-tokens.service.js';
import type { Principal } from '#access/tokens/access/principal.js';
import { INTROSPECTION_SCOPE } from '#access/clients/resources/introspection-scope.js';
import { changeEvents, ChangeStream, comment, resetEvent } from './change-stream.js';

const STREAMS_PER_CLIENT = 100;
const COMMENT_AFTER_MS = 5_000;
const LOOK_EVERY_MS = 100;
// A stream must not look alive while changes may be missing.
const UNTRUSTED_MS = 1_000;
const LATE_MS = 25;
const POSITION = /^(\d{1,10})\.(\d{1,15})$/;

const openStreams = new Gauge({
  name: 'access_change_streams',
  help: 'Services that follow the changes to access on this instance',
});

/**
 * Tells services that cache introspections what to drop (contract §23): every change, as soon as this instance reads it. A stream
 * ends when this instance may be missing changes, stops, or its token no longer introspects.
 */
@Injectable()
export class ChangeFeed implements OnModuleDestroy {
  private readonly streams = new Set<ChangeStream>();
  private watching: NodeJS.Timeout | undefined;
  private trustedAt = -Infinity;
  private stopping = false;

  constructor(
    private readonly changes: AccessChanges,
    private readonly accessTokens: AccessTokensService,
  ) {
    changes.follow({
      onChanges: (subjects, before) => {
        if (this.streams.size === 0 || subjects.length === 0) return;
        const all = changeEvents(subjects, textOf(before), this.position);
        const fromSandbox = changeEvents([EVERYBODY], textOf(before), this.position);
        this.tell((stream) => (isOfSandbox(stream.principal) ? fromSandbox : all));
      },
      onGap: () => {
        const reset = resetEvent(this.position);
        this.tell(() => reset);
      },
    });
  }

  onModuleDestroy(): void {
    this.stopping = true;
    this.endAll();
  }

  /**
   * A stream from the position on, or from now on without one. Throws a 429 problem if the client has too many, and a 503 problem
   * while changes may be missing.
   */
  async open(token: string, principal: Principal, lastEventId: string | undefined): Promise<ChangeStream> {
    if (this.stopping) throw unavailable('The service is stopping.');
    const clientId = principal.client.id;
    const others = [...this.streams].filter((each) => each.principal.client.id === clientId);
    if (others.length >= STREAMS_PER_CLIENT) {
      throw rateLimitExceeded(
        `This client already follows the changes ${STREAMS_PER_CLIENT} times. Please close a connection first.`,
        { headers: { 'retry-after': '5' } },
      );
    }
    const stream = new ChangeStream(token, principal);
    // From here on every change is either found by the replay, or arrives here.
    this.add(stream);
    try {
      await this.untilTrusted();
      const replayed = await this.replayedFrom(lastEventId, principal);
      if (this.stopping || stream.destroyed) throw unavailable('The stream ended before it began.');
      stream.begin(replayed, this.position);
      return stream;
    } catch (error) {
      stream.destroy();
      throw error;
    }
  }

  /** The position that is sent as the event id. It is slightly behind: readers who resume there get the last changes again. */
  private get position(): string {
    return textOf(this.changes.durableStamp);
  }

  private add(stream: ChangeStream): void {
    this.streams.add(stream);
    stream.once('close', () => {
      this.streams.delete(stream);
      openStreams.set(this.streams.size);
      if (this.streams.size > 0) return;
      clearInterval(this.watching);
      this.watching = undefined;
    });
    openStreams.set(this.streams.size);
    if (this.watching) return;
    this.trustedAt = performance.now();
    // oxlint-disable-next-line no-restricted-globals -- looks only while readers wait
    this.watching = detached(() => setInterval(() => this.look(), LOOK_EVERY_MS).unref());
  }

  private async untilTrusted(): Promise<void> {
    const begun = performance.now();
    while (!this.changes.isTrusted) {
      if (performance.now() - begun > UNTRUSTED_MS) {
        throw unavailable('This instance cannot follow the changes at the moment.');
      }
      await this.changes.catchUp();
      if (!this.changes.isTrusted) await pause(LATE_MS);
    }
  }

  private async replayedFrom(lastEventId: string | undefined, principal: Principal): Promise<string> {
    if (lastEventId === undefined || lastEventId === '') return '';
    const [, era, position] = POSITION.exec(lastEventId) ?? [];
    const stamp = { era: Number(era), position: Number(position) };
    const subjects =
      era === undefined
        ? undefined
        : await this.changes.subjectsSince(stamp).catch(() => {
            throw unavailable('This instance cannot read the changes at the moment.');
          });
    if (!subjects) return resetEvent(this.position);
    if (subjects.length === 0) return '';
    return changeEvents(isOfSandbox(principal) ? [EVERYBODY] : subjects, lastEventId, this.position);
  }

  private tell(textFor: (stream: ChangeStream) => string): void {
    for (const stream of this.streams) {
      stream.write(textFor(stream));
      void this.judge(stream);
    }
  }

  /** Ends the stream if its token no longer introspects; without a query, unless something about the token has changed. */
  private async judge(stream: ChangeStream): Promise<void> {
    const principal = await this.accessTokens.find(stream.token).catch(() => undefined);
    if (!principal?.scopes.includes(INTROSPECTION_SCOPE)) stream.finish();
  }

  private look(): void {
    const now = performance.now();
    if (this.changes.isTrusted) this.trustedAt = now;
    else if (now - this.trustedAt > UNTRUSTED_MS) return this.endAll();
    const position = this.position;
    for (const stream of this.streams) {
      if (this.changes.databaseNow >= stream.principal.expiresAt.getTime()) stream.finish();
      else if (now - stream.lastWriteAt >= COMMENT_AFTER_MS && this.trustedAt === now) {
        stream.write(comment(position));
        void this.judge(stream);
      }
    }
  }

  private endAll(): void {
    for (const stream of this.streams) stream.finish();
  }
}

/** Replaces every change for a client in a sandbox, so that it learns nothing about others (contract §23). */
const EVERYBODY: AccessSubject = {};
const isOfSandbox = ({ client }: Principal): boolean => client.environment === 'sandbox';

const textOf = ({ era, position }: Stamp): string => `${era}.${position}`;

const unavailable = (detail: string) =>
  serviceUnavailable(`${detail} Please try again shortly.`, { headers: { 'retry-after': '1' } });
