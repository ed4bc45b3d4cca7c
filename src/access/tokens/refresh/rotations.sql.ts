/** The maximum number of rotations that are remembered: as many as a client may make in a minute. Older tokens are past their grace time. */
const REMEMBERED = 600;

/** Rotations closer together than this part of the grace time share the time of the first of them. */
const PART = 64;

/**
 * Whether a token of this generation was rotated within the grace time. A grant stores when its generations were retired: the
 * latest exactly, and of the others one for each 64th of the grace time, so that its row stays small however often it rotates.
 * `generation`: SQL of the token's generation; `grace`: SQL of the grace time in seconds. The row of the grant is `g`.
 */
export const rotatedWithin = (generation: string, grace: string): string =>
  `g.generation > ${generation} AND g.generation - ${generation} <= ${REMEMBERED}
     AND coalesce(g.rotations[width_bucket(${generation}, g.rotated_generations)] > ${graceBegan(grace)}, false)`;

/** The assignment that stores the rotation of the current generation now, and forgets those past their grace time. */
export const storeRotation = (grace: string): string =>
  `(rotations, rotated_generations) = (
     SELECT g.rotations[first:last] || now(), g.rotated_generations[first:last] || g.generation
       FROM (SELECT width_bucket(${graceBegan(grace)}, g.rotations) + 1 AS first,
                    CASE WHEN g.rotations[cardinality(g.rotations) - 1] > now() - make_interval(secs => ${grace} / ${PART}.0)
                         THEN cardinality(g.rotations) - 1 ELSE cardinality(g.rotations) END AS last) AS kept)`;

const graceBegan = (grace: string) => `now() - make_interval(secs => ${grace})`;
