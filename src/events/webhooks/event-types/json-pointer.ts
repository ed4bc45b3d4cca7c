const ID_MAX = 255;

/** The value that a JSON Pointer (RFC 6901) to a member leads to; undefined if not found. */
function valueAt(pointer: string, root: unknown): unknown {
  if (!pointer.startsWith('/')) return undefined;
  let value = root;
  for (const part of pointer.split('/').slice(1)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Record<string, unknown>)[key];
  }
  return value;
}

/** The id that the pointer leads to, as text; null if what is there cannot be one. */
export function idAt(pointer: string, root: unknown): string | null {
  const value = valueAt(pointer, root);
  const id = typeof value === 'string' ? value : Number.isSafeInteger(value) ? String(value) : '';
  return id !== '' && Array.from(id).length <= ID_MAX ? id : null;
}
