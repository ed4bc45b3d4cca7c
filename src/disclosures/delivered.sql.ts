/**
 * Whether a delivery (`d`) has arrived, also if it was sent again later and failed then: what counts as sent (contract §26).
 */
export const delivered = (d: string): string =>
  `(${d}.state = 'delivered' OR (${d}.attempts > 0 AND EXISTS (
     SELECT 1 FROM delivery_attempts a WHERE a.delivery_id = ${d}.id AND a.status BETWEEN 200 AND 299)))`;
