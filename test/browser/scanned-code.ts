import jsqr from 'jsqr';
import { PNG } from 'pngjs';
import type { Locator } from 'playwright-core';

/** What a phone reads when it is held in front of a QR code; undefined if it reads nothing. Light on dark is not read, as by many apps. */
export async function scannedCode(code: Locator): Promise<string | undefined> {
  const { data, width, height } = PNG.sync.read(await code.screenshot());
  return jsqr.default(new Uint8ClampedArray(data), width, height, { inversionAttempts: 'dontInvert' })?.data;
}
