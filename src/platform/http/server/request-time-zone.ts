import type { FastifyReply, FastifyRequest } from 'fastify';
import { timeZoneOf, UTC } from '#platform/language/time-zones.js';
import { HOST_COOKIES, OUR_COOKIES, type Cookies } from './cookies.js';

/** A cookie set by our script: the name of the browser's time zone. */
const NOTED = `${OUR_COOKIES}zone`;
/** The cookie with the choice of the reader. */
const CHOSEN = 'times';
const YEAR = 31_536_000;

/** How times are shown: in the time zone of the browser, or in UTC. */
export const TIME_CHOICES = ['local', 'utc'] as const;
export type TimeChoice = (typeof TIME_CHOICES)[number];

/** The choice made in this browser. */
export function timeChoiceOf({ cookies }: FastifyRequest): TimeChoice {
  // By either name: whether the base URL is https does not matter for reading.
  return (cookies?.[HOST_COOKIES + CHOSEN] ?? cookies?.[OUR_COOKIES + CHOSEN]) === 'utc' ? 'utc' : 'local';
}

/** The time zone in which pages show times: that of the browser, once our script has set it, unless UTC was chosen. */
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
