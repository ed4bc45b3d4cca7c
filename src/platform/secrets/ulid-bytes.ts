const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const VALUES = new Map([...ALPHABET].map((letter, value) => [letter, value]));
const LENGTH = 26;
const CODES = Buffer.from(ALPHABET, 'latin1');
// Reused for each ULID: one string from bytes is cheaper than concatenating 26 strings.
const letters = Buffer.alloc(LENGTH);

/** The number of bytes of a ULID. */
export const ULID_BYTES = 16;

/** Writes the ULID of a resource id (after its four-letter prefix) as 16 bytes. Throws if it is not one. */
export function writeUlid(id: string, into: Buffer, offset: number): void {
  let bits = 0;
  let rest = 0;
  let at = offset;
  const from = id.length - LENGTH;
  for (let n = 0; n < LENGTH; n++) {
    const value = VALUES.get(id[from + n]!);
    // 26 letters of 5 bits are two bits more than a ULID has, so the first letter has only three.
    if (value === undefined || (n === 0 && value > 7)) throw new Error('not the id of a resource');
    rest = (rest << 5) | value;
    bits += n === 0 ? 3 : 5;
    if (bits >= 8) {
      bits -= 8;
      into[at++] = rest >> bits;
      rest &= (1 << bits) - 1;
    }
  }
}

/** The 26 letters of the ULID at the offset. */
export function readUlid(from: Buffer, offset: number): string {
  let at = 0;
  let bits = 2;
  let rest = 0;
  for (let n = 0; n < ULID_BYTES; n++) {
    rest = (rest << 8) | from[offset + n]!;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      letters[at++] = CODES[rest >> bits]!;
      rest &= (1 << bits) - 1;
    }
  }
  return letters.toString('latin1');
}
