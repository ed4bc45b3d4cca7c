// Why the process itself is changed here: the service gives up on a connection or a database after seconds that are no settings. A machine that is busy with many tests needs
// longer, and then refuses what a test does not mean to refuse. So these limits end nothing, unless a test is about one of them: it holds the timer, or calls limitSilence().
import { Socket } from 'node:net';
import { atEndOfFile } from './between-files.js';
import { HeldTimers } from './held-timers.js';

/** A request waits so long for a connection of the pool, and a connection for the server. */
const CONNECTION_MS = 3_000;
for (const by of ['/pg-pool/', '/shared-pool', '/pg/lib/client'])
  HeldTimers.holdAlways(CONNECTION_MS, CONNECTION_MS, by);

/** A database that says nothing for so long is taken for gone. */
const SILENCE_MS = 12_000;
const unlimited = new Set([SILENCE_MS]);
const { setTimeout } = Socket.prototype;
Socket.prototype.setTimeout = function (this: Socket, ms: number, callback?: () => void) {
  return setTimeout.call(this, unlimited.has(ms) ? 0 : ms, callback);
};

/** For a test of that limit: connections from now on have it, until the end of the file. */
export function limitSilence(): void {
  unlimited.delete(SILENCE_MS);
  atEndOfFile(() => void unlimited.add(SILENCE_MS));
}

/** Until the end of the file, no socket of this process is closed after so many milliseconds of silence. */
export function leaveSilenceUnlimited(ms: number): void {
  unlimited.add(ms);
  atEndOfFile(() => void unlimited.delete(ms));
}
