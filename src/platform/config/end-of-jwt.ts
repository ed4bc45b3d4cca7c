/** The `exp` of a text that is a signed JWT (RFC 7519); undefined for any other text, and for one without an end. Checks no signature. */
export function endOfJwt(text: string): Date | undefined {
  const [header, payload] = /^([\w-]+)\.([\w-]+)\.[\w-]+$/.exec(text)?.slice(1).map(objectIn) ?? [];
  if (typeof header?.alg !== 'string' || typeof payload?.exp !== 'number') return undefined;
  const end = new Date(payload.exp * 1000);
  return Number.isNaN(end.getTime()) ? undefined : end;
}

function objectIn(part: string): Record<string, unknown> | undefined {
  try {
    const found: unknown = JSON.parse(Buffer.from(part, 'base64url').toString());
    return typeof found === 'object' && found !== null ? (found as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
