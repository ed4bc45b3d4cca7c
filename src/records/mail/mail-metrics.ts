import { Counter, Gauge } from 'prom-client';

/** Attempts to send, by result. */
export const mailAttempts = new Counter({
  name: 'mail_attempts_total',
  help: 'Attempts to send a mail, by result',
  labelNames: ['result'] as const,
});

/** Mails that have no more attempts. */
export const finishedMails = new Counter({
  name: 'mails_finished_total',
  help: 'Mails that were sent or have failed, by state',
  labelNames: ['state'] as const,
});

/** Mails that wait, whichever instance will send them. */
export const pendingMails = new Gauge({
  name: 'mails_pending',
  help: 'Mails waiting to be sent, in the whole database, counted up to 10,000',
});

/** Requested mails that are not sent to anyone. */
export const withheldMails = new Counter({
  name: 'mails_withheld_total',
  help: 'Mails that were not sent: over the limit of the address or of the network address, or with a link that had expired',
  labelNames: ['reason'] as const,
});
// Initialized at start: a counter that appears with its first event hides that event from a rate.
for (const reason of ['limit_of_network', 'limit_of_address', 'expired']) withheldMails.inc({ reason }, 0);
