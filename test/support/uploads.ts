import sharp from 'sharp';
import { csrfTokenOn, type BrowserSession, type Page } from './browser-session.js';

/** A form in parts, as a browser sends it. */
export async function inParts(
  parts: Record<string, string | Buffer>,
): Promise<{ body: Buffer; headers: Record<string, string> }> {
  const form = new FormData();
  for (const [name, value] of Object.entries(parts)) {
    if (typeof value === 'string') form.set(name, value);
    else form.set(name, new Blob([new Uint8Array(value)], { type: 'image/png' }), 'logo.png');
  }
  const response = new Response(form);
  return {
    body: Buffer.from(await response.arrayBuffer()),
    headers: { 'content-type': response.headers.get('content-type')! },
  };
}

/** Chooses a file in the form of this path, which is on the page of the same path, and sends it. */
export async function upload(browser: BrowserSession, path: string, file: Buffer): Promise<Page> {
  const page = await browser.open(path);
  return browser.open(path, await inParts({ csrf_token: csrfTokenOn(page, path), logo: file }));
}

const canvas = (width: number, height = width, color = '#0055aa') =>
  sharp({ create: { width, height, channels: 4, background: color } });

export const png = (width = 64, height = width, color?: string): Promise<Buffer> =>
  canvas(width, height, color).png().toBuffer();
export const jpeg = (width = 64): Promise<Buffer> =>
  canvas(width)
    .withExif({ IFD0: { Copyright: 'SECRET-IN-EXIF' } })
    .jpeg()
    .toBuffer();
export const webp = (width = 64): Promise<Buffer> => canvas(width).webp().toBuffer();

/** A picture that compresses badly: noise. */
export const noise = (side: number): Promise<Buffer> =>
  sharp({
    create: {
      width: side,
      height: side,
      channels: 3,
      background: '#000000',
      noise: { type: 'gaussian', mean: 128, sigma: 60 },
    },
  })
    .jpeg({ quality: 60 })
    .toBuffer();

/** A WebP image of two frames. */
export async function movingWebp(): Promise<Buffer> {
  const frames = await Promise.all(['#ff0000', '#0000ff'].map((color) => png(32, 32, color)));
  return sharp(frames, { join: { animated: true } })
    .webp()
    .toBuffer();
}
