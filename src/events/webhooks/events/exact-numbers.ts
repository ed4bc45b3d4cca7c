/** Tokens of JSON text: strings, numbers, and everything between them. */
const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*|[{}[\]:]/g;
const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([-+]?\d+))?$/;

/**
 * Whether all JSON readers agree on every number in a member of an object (RFC 8259 §6): others would be delivered as different
 * numbers, or as null. Takes the text, which must be valid JSON, because parsing it changes the numbers in question.
 */
export function holdsExactNumbers(text: string, member: string): boolean {
  let depth = 0;
  let isInMember = false;
  let isExact = true;
  let previous = '';
  for (const [token] of text.matchAll(TOKENS)) {
    if (token === '{' || token === '[') depth++;
    else if (token === '}' || token === ']') depth--;
    else if (token === ':' && depth === 1) {
      isInMember = JSON.parse(previous) === member;
      // Parsers take the last of several members with the same name.
      if (isInMember) isExact = true;
    } else if (isInMember && isExact && /^[-\d]/.test(token)) isExact = isExactNumber(token);
    previous = token;
  }
  return isExact;
}

/** Whether it is exactly one double, and not an integer too large to be distinct in a double. */
function isExactNumber(token: string): boolean {
  const value = Number(token);
  if (!Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value))) return false;
  const written = String(value);
  if (written === token) return true;
  const decimal = decimalOf(token);
  // Some writers give a double 17 digits where fewer name it, such as 0.10000000000000001.
  return decimal === decimalOf(written) || decimal === decimalOf(value.toPrecision(17));
}

/** The value in one form: its significant digits, and the exponent of the last one. */
function decimalOf(number: string): string {
  const [, sign, whole, fraction = '', exponent = '0'] = NUMBER.exec(number)!;
  const digits = whole! + fraction;
  let [first, end] = [0, digits.length];
  while (digits[first] === '0') first++;
  // Not by a pattern for trailing zeros, which takes quadratic time if there are many zeros elsewhere.
  while (end > first && digits[end - 1] === '0') end--;
  if (first === end) return '0';
  return `${sign}${digits.slice(first, end)}e${Number(exponent) - fraction.length + digits.length - end}`;
}
