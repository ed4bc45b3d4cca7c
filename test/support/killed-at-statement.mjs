/**
 * Preloaded into a process (`--import`): kills it before the statement of that number (`KILL_BEFORE`) is sent to the database, or as soon as
 * the first one with that text was sent (`KILL_AFTER`). At its exit it writes how many there were to the file `COUNTED`. The changes of access
 * are read every 25 ms, so these statements are as many as the process takes time for, and do not count. How many connections a process opens,
 * each with a statement of its own, depends on time as well: one that ends before it has sent that many is killed at its end.
 */
import { writeFileSync } from 'node:fs';
import pg from 'pg';

const { KILL_BEFORE, KILL_AFTER, COUNTED } = process.env;
const { query } = pg.Client.prototype;
let sent = 0;
pg.Client.prototype.query = function (statement, ...rest) {
  if (statement.name !== 'access changes') sent++;
  if (sent === Number(KILL_BEFORE)) process.kill(process.pid, 'SIGKILL');
  const result = query.call(this, statement, ...rest);
  const text = typeof statement === 'string' ? statement : statement.text;
  if (KILL_AFTER !== undefined && text === KILL_AFTER) process.kill(process.pid, 'SIGKILL');
  return result;
};
process.on('exit', () => {
  if (KILL_BEFORE !== undefined) process.kill(process.pid, 'SIGKILL');
  if (COUNTED) writeFileSync(COUNTED, String(sent));
});
