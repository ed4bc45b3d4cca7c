/**
 * Whether the deliveries of events up to a time are in the sums (contract §26). Nothing that they are counted from may be purged
 * before.
 */
export const isRolledUp = (time: string): string => `${time} <= (SELECT r.up_to FROM disclosure_roll_up r)`;
