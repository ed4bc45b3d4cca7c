/** Which user a path names. */
export type UserOfPath = (uri: string) => string | undefined;

const USER = '{user}';
const ANY = '*';
const REST = '**';
const LITERAL = /^[A-Za-z0-9\-._~]+$/;

/**
 * Reads a pattern such as `/users/{user}/vehicles/**`: `{user}` stands for the id of the user, `*` for one segment, `**` at the end for
 * any more. The result finds the user in a path (a query string may follow), or undefined if the path does not fit, or could mean
 * another path to a server that reads it more freely. Throws a TypeError for a pattern that is not one.
 */
export function userPattern(pattern: string): UserOfPath {
  const parts = pattern.split('/').slice(1);
  const hasRest = parts.at(-1) === REST;
  const wanted = hasRest ? parts.slice(0, -1) : parts;
  const place = wanted.indexOf(USER);
  const isPattern =
    pattern.startsWith('/') &&
    place !== -1 &&
    wanted.every((part, at) => part === ANY || at === place || (LITERAL.test(part) && !/^\.+$/.test(part)));
  if (!isPattern) {
    throw new TypeError(
      `user must be a path with {user} in it once, such as /users/{user}/**, not ${pattern}`,
    );
  }
  return (uri) => {
    const [path = ''] = uri.split('?', 1);
    if (!isPlain(path)) return undefined;
    const segments = path.replace(/\/$/, '').split('/').slice(1);
    const fits =
      (hasRest ? segments.length >= wanted.length : segments.length === wanted.length) &&
      wanted.every((part, at) => part === ANY || at === place || part === segments[at]);
    return fits ? segments[place] : undefined;
  };
}

/**
 * Whether every server finds the same segments in a path. Some resolve dots and double slashes, also encoded ones, or read a backslash as a
 * slash, or leave out what follows a semicolon: they could serve another user's data than the path seems to name.
 */
const isPlain = (path: string): boolean =>
  /^\/[\x21-\x7e]*$/.test(path) &&
  !/[\\;#]|\/\/|%(?:2e|2f|5c|25|3b|00)|%(?![0-9a-f]{2})/i.test(path) &&
  !path.split('/').some((segment) => segment === '.' || segment === '..');
