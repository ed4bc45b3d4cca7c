import { parse } from 'node-html-parser';
import type { Exchange, Exchanges } from './exchanges.js';

/** What differs: each click on the consent page gives the application a code of its own. */
const OWN_CODE = /\bcode=[^&"]+/g;

const headingOf = ({ text }: Exchange): string | undefined => parse(text).querySelector('h1')?.textContent;

const placeOf = (exchange: Exchange): string =>
  JSON.stringify({
    status: exchange.status,
    location: exchange.headers.get('location')?.replaceAll(OWN_CODE, 'code'),
    type: exchange.headers.get('content-type'),
    heading: headingOf(exchange),
    cookies: exchange.headers
      .getSetCookie()
      .map((line) => line.split('=', 1)[0])
      .sort(),
  });

const endOf = ({ path, status, ...end }: Exchange): string =>
  `${path.replaceAll(OWN_CODE, 'code')} ${status} ${headingOf({ path, status, ...end })}`;

/**
 * What is wrong with the answer to the second of two clicks on a form, which both have the cookies from before: it must lead where the
 * first led, and the browser, which has only the cookies of the second, must be let in there.
 */
export async function secondClickFaults(exchanges: Exchanges, first: Exchange): Promise<string[]> {
  const second = await exchanges.sendAgain(first);
  const [one, other] = [placeOf(first), placeOf(second)];
  if (one !== other) return [`the second click is answered with ${other}, the first with ${one}`];
  const [end, otherEnd] = [endOf(await exchanges.follow(first)), endOf(await exchanges.follow(second))];
  return end === otherEnd ? [] : [`the second click ends at ${otherEnd}, the first at ${end}`];
}
