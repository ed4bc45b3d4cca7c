import { Reflector } from '@nestjs/core';

type Target = Parameters<Reflector['get']>[1];

/** Reads what a decorator says of a route or class once, because it never changes: a guard of the throttler asks twelve times for each request. */
export class RememberedReflector extends Reflector {
  private readonly known = new Map<Target, Map<unknown, unknown>>();

  override get<Result, Key>(key: Key, target: Target): Result {
    let values = this.known.get(target);
    if (!values) this.known.set(target, (values = new Map<unknown, unknown>()));
    if (!values.has(key)) values.set(key, super.get(key, target));
    return values.get(key) as Result;
  }
}
