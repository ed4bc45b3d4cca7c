import type { FastifyRequest } from 'fastify';
import { OUR_COOKIES } from './cookies.js';

/** A cookie set by our script: the first parts of the groups that the reader folded up, such as `clients.notifications`. */
const NOTED = `${OUR_COOKIES}folded`;
const MAX_LENGTH = 200;

/** The groups of the side bar that are folded up in this browser. */
export const foldedGroupsOf = ({ cookies }: FastifyRequest): string[] =>
  cookies?.[NOTED]?.slice(0, MAX_LENGTH).split('.') ?? [];
