/** A module of the built service, named as in src/. */
export function load(module) {
  return import(new URL(`../dist/src/${module}`, import.meta.url).href);
}
