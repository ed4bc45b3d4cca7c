import type { MemberClient } from '#events/partners/members/member.js';

interface Choice {
  all: MemberClient[];
  /** One of them, if there is any. */
  chosen?: MemberClient;
}

/** A member of a partner's organisation who reads the documentation, or someone who came to a client's portal with a one-time link. */
export interface DocsReader {
  sandbox: Choice;
  live: Choice;
  /** The client of the link. */
  byLink?: MemberClient;
}

/** Whose values the samples have: a live client only if it is that of the link. */
export const sampleClientOf = (reader: DocsReader | undefined): MemberClient | undefined =>
  reader?.sandbox.chosen ?? reader?.byLink;
