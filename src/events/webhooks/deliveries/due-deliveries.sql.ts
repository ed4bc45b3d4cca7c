/** The order of `deliveries_queue_idx`, and of no other index. */
export const IN_QUEUE = 'endpoint_id, due_at, id';

/**
 * The first deliveries of an endpoint that are due, up to a number. Those that were never put off are due since they were made, in the order of their
 * ids; the others at a time of their own. Either is found by `deliveries_queue_idx`, of which a lease changes nothing: so it changes no index.
 */
export const DUE = (endpointId: string, limit: string, columns = 'd.id, d.next_attempt_at AS at'): string => {
  const first = (which: string) => `(SELECT ${columns} FROM deliveries d
                 WHERE d.endpoint_id = ${endpointId} AND d.state = 'pending' AND d.next_attempt_at <= now() AND d.due_at ${which}
                 ORDER BY d.due_at, d.id LIMIT ${limit})`;
  return `${first('IS NULL')} UNION ALL ${first('<= now()')}`;
};
