/** The refused requests of a client, and how to fix them. */
export interface RefusalMessage {
  status: string;
  what: string;
  help: string;
}

/** Of a refusal with this status, and the error code if it has one. */
export const refused = (status: string, what: string, help: string): RefusalMessage => ({
  status,
  what,
  help,
});
