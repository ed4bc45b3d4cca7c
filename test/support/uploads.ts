import sharp from 'sharp';
import { SERVICE_ACTOR } from '#records/audit/audit.service.js';
import { BrandService } from '#records/brand/brand.service.js';
import { logoFrom } from '#records/brand/logo-image.js';
import { ClientsService } from '#access/clients/clients.service.js';
import { csrfTokenOn, type BrowserSession, type Page } from './browser-session.js';
import { inParts } from './in-parts.js';
import type { TestInstance } from './test-service.js';

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

let shownLogo: Promise<Buffer> | undefined;

/** Gives the service and a client a logo, the same each time. */
export async function showLogo({ app }: TestInstance, client: { id: string }): Promise<void> {
  const image = await (shownLogo ??= png(48).then(logoFrom));
  await app.get(BrandService).changeLogo(image, SERVICE_ACTOR);
  await app.get(ClientsService).changeLogo(client.id, image, SERVICE_ACTOR);
}
