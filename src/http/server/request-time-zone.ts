import type { FastifyReply, FastifyRequest } from 'fastify';
import { timeZoneOf, UTC } from '../../language/time-zones.js';
import type { Cookies } from './cookies.js';

/** What our script notes of the browser: the name of its time zone. */
const NOTED = 'zone';
/** What was chosen instead. */
const CHOSEN = 'times';
const YEAR = 31_536_000;

/** In which times are shown: the time zone of the browser, or UTC. */
export const TIME_CHOICES = ['local', 'utc'] as const;
export type TimeChoice = (typeof TIME_CHOICES)[number];

/** What was chosen in this browser. */
export function timeChoiceOf({ cookies }: FastifyRequest): TimeChoice {
  // By either name: whether the base URL is https does not matter for reading.
  return (cookies?.[`__Host-${CHOSEN}`] ?? cookies?.[CHOSEN]) === 'utc' ? 'utc' : 'local';
}

/** The time zone in which pages show times: that of the browser, once our script has noted it, unless UTC was chosen. */
export function timeZoneOfRequest(request: FastifyRequest): string {
  const noted = request.cookies?.[NOTED];
  if (noted === undefined || timeChoiceOf(request) === 'utc') return UTC;
  return timeZoneOf(noted) ?? UTC;
}

/** Remembers the choice in the browser. */
export function rememberTimeChoice(reply: FastifyReply, cookies: Cookies, choice: TimeChoice): void {
  if (choice === 'utc') cookies.set(reply, CHOSEN, choice, YEAR);
  else cookies.clear(reply, CHOSEN);
}
