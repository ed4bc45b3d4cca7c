import accepts from 'accepts';
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { varyByEncoding } from './compression.js';

const toBrotli = promisify(brotliCompress);
const toGzip = promisify(gzip);

const ENCODINGS = ['br', 'gzip'] as const;
export type Encoding = (typeof ENCODINGS)[number];

/** One encoding of the content, as sent over the wire. */
interface Representation {
  body: Buffer;
  etag: string;
  encoding?: Encoding;
}

/** Content that is the same for everybody, in memory: compressed once at the highest quality, on the first request, and kept. */
export class CompressedAsset {
  private readonly representations = new Map<Encoding, Promise<Representation>>();
  private readonly plain: Representation;
  private readonly hash: string;

  constructor(
    content: string | Buffer,
    private readonly type: string,
    /** Its compressed forms, where they exist already. */
    private readonly compressed?: (encoding: Encoding) => Promise<Buffer>,
  ) {
    const body = Buffer.from(content);
    this.hash = createHash('sha256').update(body).digest('base64url').slice(0, 22);
    this.plain = { body, etag: `"${this.hash}"` };
  }

  /** Sends the encoding that the client accepts, or 304 if the client already has it. */
  async send(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const encoding = encodingFor(request);
    const form = encoding === undefined ? this.plain : await this.formIn(encoding);
    varyByEncoding(reply);
    void reply.header('etag', form.etag);
    if (isHad(request.headers['if-none-match'], form.etag)) return void reply.status(304).send();
    if (form.encoding) void reply.header('content-encoding', form.encoding);
    void reply.header('content-type', this.type).send(form.body);
  }

  private formIn(encoding: Encoding): Promise<Representation> {
    let form = this.representations.get(encoding);
    if (!form) {
      form = this.make(encoding);
      this.representations.set(encoding, form);
      form.catch(() => this.representations.delete(encoding));
    }
    return form;
  }

  private async make(encoding: Encoding): Promise<Representation> {
    const body = await (this.compressed?.(encoding) ?? compress(this.plain.body, encoding));
    return { body, etag: `"${this.hash}-${encoding}"`, encoding };
  }
}

const compress = (body: Buffer, encoding: Encoding): Promise<Buffer> =>
  encoding === 'gzip'
    ? toGzip(body, { level: constants.Z_BEST_COMPRESSION })
    : toBrotli(body, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: body.length } });

/** The best encoding that the client accepts; undefined if it accepts none. */
const encodingFor = (request: FastifyRequest): Encoding | undefined =>
  ENCODINGS.find((encoding) => accepts(request.raw).encodings([encoding]) === encoding);

/** RFC 9110 §13.1.2: a list of entity tags, compared weakly, or an asterisk. */
export const isHad = (ifNoneMatch: string | undefined, etag: string): boolean =>
  ifNoneMatch !== undefined &&
  ifNoneMatch.split(',').some((each) => ['*', etag, `W/${etag}`].includes(each.trim()));
