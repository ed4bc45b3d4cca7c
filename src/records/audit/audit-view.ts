/** How an audit event shows a field: under this name, optionally converted by the function; undefined leaves it out. */
type Shown<V> = string | readonly [name: string, show: (value: V) => unknown];

/**
 * The view of an entity in audit events. Each field is either audited, or listed with the reason why it is not: one that is in
 * neither list, or in both, does not compile.
 */
export function auditViewOf<E extends object, Hidden extends keyof E & string>(
  _entity: abstract new () => E,
  audited: { [K in Exclude<keyof E, Hidden>]-?: Shown<E[K]> },
  _notAudited: Record<Hidden, string>,
): (entity: Omit<E, Hidden>) => Record<string, unknown> {
  const fields = Object.entries<Shown<never>>(audited);
  return (entity) =>
    Object.fromEntries(
      fields.map(([field, shown]) => {
        const value = entity[field as keyof typeof entity] as never;
        return typeof shown === 'string' ? [shown, value] : [shown[0], shown[1](value)];
      }),
    );
}
