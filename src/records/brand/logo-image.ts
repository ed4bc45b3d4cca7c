import type Library from 'sharp';
import type { Sharp } from 'sharp';
import { validationFailed, type Problem } from '#platform/http/problems/problem.js';
import { violation, type Violation } from '#platform/http/problems/violation.js';

/** The field of the forms that upload a logo. */
export const LOGO_FIELD = 'logo';

/** The maximum size of an upload. */
const LOGO_BYTES_MAX = 1_048_576;
const LOGO_SIDE_MAX = 4096;

const PIXELS_MAX = LOGO_SIDE_MAX * LOGO_SIDE_MAX;

/** The maximum size of the stored image; the table has the same limit. */
const STORED_BYTES_MAX = 102_400;
/** Maximum sides to try for the stored image until it is small enough. An image of the last one has 64 kB uncompressed. */
const SIDES = [512, 384, 256, 128];
const SECONDS = 5;

// Recognized by content, whatever the file is called. Neither GIF nor SVG.
const LOADERS = ['VipsForeignLoadPng', 'VipsForeignLoadJpeg', 'VipsForeignLoadWebp'];

const isPng = (bytes: Buffer): boolean =>
  bytes.subarray(0, 8).equals(Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]));
const isJpeg = (bytes: Buffer): boolean => bytes.subarray(0, 3).equals(Buffer.from([0xff, 0xd8, 0xff]));
const isWebp = (bytes: Buffer): boolean =>
  bytes.toString('latin1', 0, 4) === 'RIFF' && bytes.toString('latin1', 8, 12) === 'WEBP';

/** An animated PNG declares its frames before the first of them. */
const isAnimatedPng = (bytes: Buffer): boolean => {
  const frames = bytes.indexOf('acTL', 8, 'latin1');
  return isPng(bytes) && frames >= 0 && frames < bytes.indexOf('IDAT', 8, 'latin1');
};

let loading: Promise<typeof Library> | undefined;

/** Loaded with the first logo: few instances need it. */
const loaded = (): Promise<typeof Library> =>
  (loading ??= (async () => {
    const { default: sharp } = await import('sharp');
    sharp.cache(false);
    sharp.concurrency(1);
    sharp.block({ operation: ['VipsForeignLoad'] });
    sharp.unblock({ operation: LOADERS });
    return sharp;
  })());

const refused = (why: Violation): Problem => validationFailed({ [LOGO_FIELD]: [why] });

/**
 * The image as stored and served: a new PNG of the pixels only, without metadata, at most 512 pixels wide and high, and 100 kB.
 * Throws a 400 problem for anything but a still PNG, JPEG or WebP image, and for one that is too large.
 */
export async function logoFrom(bytes: Buffer | undefined): Promise<Buffer> {
  if (bytes === undefined || bytes.length === 0) throw refused(violation('no_image'));
  if (bytes.length > LOGO_BYTES_MAX) throw refused(violation('large_image', { max: '1 MB' }));
  if (!isPng(bytes) && !isJpeg(bytes) && !isWebp(bytes)) throw refused(violation('unreadable_image'));
  const library = await loaded();
  // Only the head of the file is read.
  const {
    width,
    height,
    pages = 1,
  } = await read(() => library(bytes, { limitInputPixels: false }).metadata());
  if (pages > 1 || isAnimatedPng(bytes)) throw refused(violation('moving_image'));
  if (width > LOGO_SIDE_MAX || height > LOGO_SIDE_MAX) {
    throw refused(violation('many_pixels', { max: LOGO_SIDE_MAX }));
  }
  return read(() => smallEnough((input) => library(input, { limitInputPixels: PIXELS_MAX }), bytes));
}

async function smallEnough(open: (bytes: Buffer) => Sharp, bytes: Buffer): Promise<Buffer> {
  // Decoded completely once, so that any error in the file shows here.
  const pixels = await open(bytes)
    .timeout({ seconds: SECONDS })
    .autoOrient()
    .resize(SIDES[0], SIDES[0], { fit: 'inside', withoutEnlargement: true })
    .toColourspace('srgb')
    .png({ compressionLevel: 9 })
    .toBuffer();
  if (pixels.length <= STORED_BYTES_MAX) return pixels;
  for (const side of SIDES) {
    const smaller = open(pixels)
      .timeout({ seconds: SECONDS })
      .resize(side, side, { fit: 'inside', withoutEnlargement: true });
    for (const palette of [false, true]) {
      const image = await smaller.clone().png({ compressionLevel: 9, palette }).toBuffer();
      if (image.length <= STORED_BYTES_MAX) return image;
    }
  }
  throw refused(violation('unreadable_image'));
}

/** A file that the library cannot read is not an image. */
async function read<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch {
    throw refused(violation('unreadable_image'));
  }
}
