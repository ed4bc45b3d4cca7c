import sharp from 'sharp';
import { deflateSync } from 'node:zlib';
import { logoFrom } from '#records/brand/logo-image.js';
import { apiWordsOf } from '#platform/http/problems/violation.js';
import type { Problem } from '#platform/http/problems/problem.js';
import { jpeg, movingWebp, noise, png, webp } from '../support/uploads.js';

const SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><script>alert(1)</script></svg>';

/** A chunk of a PNG file. Its checksum is wrong unless it is given. */
const chunk = (type: string, data: Buffer): Buffer => {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [length, crc] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  crc.writeUInt32BE(crcOf(body));
  return Buffer.concat([length, body, crc]);
};
const crcOf = (bytes: Buffer): number => {
  let crc = ~0;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  return ~crc >>> 0;
};
const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const headerOf = (width: number, height: number): Buffer => {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 0, 0, 0, 0], 8);
  return chunk('IHDR', header);
};
/** A few hundred bytes that are 900 million pixels once they are unpacked. */
const bomb = (): Buffer =>
  Buffer.concat([
    SIGNATURE,
    headerOf(30_000, 30_000),
    chunk('IDAT', deflateSync(Buffer.alloc(300_000))),
    chunk('IEND', Buffer.alloc(0)),
  ]);

const refusalOf = async (bytes: Buffer | undefined): Promise<unknown> => {
  const refusal = await logoFrom(bytes).catch((error: Problem) => error);
  return Buffer.isBuffer(refusal) ? 'it was taken' : apiWordsOf(refusal.extras.violations!);
};
const UNREADABLE = { logo: ['must be a PNG, JPEG or WebP image that can be read'] };

describe('A logo is refused', () => {
  it('if there is no file', async () => {
    expect(await refusalOf(undefined)).toEqual({ logo: ['choose a file'] });
    expect(await refusalOf(Buffer.alloc(0))).toEqual({ logo: ['choose a file'] });
  });

  it('if it is larger than 1 MB', async () => {
    const large = Buffer.concat([await png(), Buffer.alloc(1_048_576)]);
    expect(await refusalOf(large)).toEqual({ logo: ['must not be larger than 1 MB'] });
  });

  it.each(
    Object.entries({
      SVG: () => Buffer.from(SVG),
      'SVG after spaces': () => Buffer.from(`  \n<?xml version="1.0"?>${SVG}`),
      'a page': () => Buffer.from('<!doctype html><script>alert(1)</script>'),
      GIF: async () =>
        sharp(await png())
          .gif()
          .toBuffer(),
      TIFF: async () =>
        sharp(await png())
          .tiff()
          .toBuffer(),
      'a program': () => Buffer.from('\x7fELF and more'),
      'the beginning of a PNG and a page': () => Buffer.concat([SIGNATURE, Buffer.from('<script>')]),
      'the beginning of a JPEG and SVG': () =>
        Buffer.concat([Buffer.from([255, 216, 255]), Buffer.from(SVG)]),
      'the frame of a WebP': () => Buffer.from('RIFF\x10\0\0\0WEBPVP8 nothing'),
      'half a PNG': async () => (await noisyPng()).subarray(0, 4_000),
      'half a JPEG': async () => (await noise(256)).subarray(0, 4_000),
    }),
  )('if it is %s, whatever it is called', async (_what, make) => {
    expect(await refusalOf(await make())).toEqual(UNREADABLE);
  });

  it('if it moves', async () => {
    const moving = { logo: ['must be a still image'] };
    expect(await refusalOf(await movingWebp())).toEqual(moving);
    const still = await png();
    const at = still.indexOf('IDAT', 0, 'latin1') - 4;
    const animated = Buffer.concat([
      still.subarray(0, at),
      chunk('acTL', Buffer.from([0, 0, 0, 2, 0, 0, 0, 0])),
      still.subarray(at),
    ]);
    expect(await refusalOf(animated)).toEqual(moving);
  });

  it('if it has too many pixels, before they are unpacked', async () => {
    expect(await refusalOf(bomb())).toEqual({ logo: ['must not be wider or higher than 4096 pixels'] });
    expect(await refusalOf(await png(4097, 1))).toEqual({
      logo: ['must not be wider or higher than 4096 pixels'],
    });
  });
});

const noisyPng = async (): Promise<Buffer> =>
  sharp(await noise(128))
    .png()
    .toBuffer();

describe('A logo is stored', () => {
  it.each([
    ['PNG', png],
    ['JPEG', jpeg],
    ['WebP', webp],
  ])('as PNG if it was %s, with nothing but its pixels', async (_what, make) => {
    const stored = await logoFrom(await make(64));
    expect(await sharp(stored).metadata()).toMatchObject({ format: 'png', width: 64, height: 64 });
    expect(stored.includes('SECRET-IN-EXIF')).toBe(false);
  });

  it('without what stood behind the image', async () => {
    const stored = await logoFrom(Buffer.concat([await png(), Buffer.from('<script>alert(1)</script>')]));
    expect(stored.includes('<script>')).toBe(false);
  });

  it('at most 512 pixels wide and high, in its proportions', async () => {
    expect(await sharp(await logoFrom(await png(2000, 1000))).metadata()).toMatchObject({
      width: 512,
      height: 256,
    });
    expect(await sharp(await logoFrom(await png(4096, 1))).metadata()).toMatchObject({
      width: 512,
      height: 1,
    });
  });

  it('in at most 100 kB, smaller if need be', async () => {
    // With so many pixels, a byte for each is too much at 512, and not at 384.
    const wide = { left: 0, top: 0, width: 512, height: 260 };
    const stored = await logoFrom(
      await sharp(await noise(512))
        .extract(wide)
        .jpeg()
        .toBuffer(),
    );
    expect(stored.length).toBeLessThanOrEqual(102_400);
    expect(await sharp(stored).metadata()).toMatchObject({ width: 384 });
  });

  it('turned as the camera says', async () => {
    const turned = await sharp(await png(60, 20))
      .jpeg()
      .withMetadata({ orientation: 6 })
      .toBuffer();
    expect(await sharp(await logoFrom(turned)).metadata()).toMatchObject({ width: 20, height: 60 });
  });

  it('in the same bytes each time, so that it has one address', async () => {
    const file = await jpeg(300);
    expect((await logoFrom(file)).equals(await logoFrom(file))).toBe(true);
  });
});
