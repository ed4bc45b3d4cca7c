/** What is made before the tests of the file, or of the `describe` that this is called in. */
export function madeOnce<T extends object>(make: () => T | Promise<T>): T {
  let made: T;
  beforeAll(async () => void (made = await make()));
  return standInFor(() => made);
}

/** What is made anew before each of these tests. */
export function madeForEach<T extends object>(make: () => T | Promise<T>): T {
  let made: T;
  beforeEach(async () => void (made = await make()));
  return standInFor(() => made);
}

/** Passes on whatever is done with it to the object that is there at that time. */
function standInFor<T extends object>(current: () => T): T {
  type Trap = (target: object, ...rest: unknown[]) => unknown;
  const passOn =
    (_handler: object, trap: keyof typeof Reflect): Trap =>
    (_target, ...rest) =>
      (Reflect[trap] as Trap)(current(), ...rest);
  return new Proxy({} as T, new Proxy({}, { get: passOn as never }));
}
