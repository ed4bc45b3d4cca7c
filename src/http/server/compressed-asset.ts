import accepts from 'accepts';
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { varyByEncoding } from './compression.js';

const toBrotli = promisify(brotliCompress);
const toGzip = promisify(gzip);

const ENCODINGS = ['br', 'gzip'] as const;
type Encoding = (typeof ENCODINGS)[number];

/** One encoding of the content, as sent over the wire. */
interface Form {
  body: Buffer;
  etag: string;
  encoding?: Encoding;
}

/** Content that is the same for everybody: compressed once at the highest quality, on the first request, and kept. */
export class CompressedAsset {
  private readonly forms = new Map<Encoding, Promise<Form>>();
  private readonly plain: Form;
  private readonly hash: string;

  constructor(
    content: string | Buffer,
    private readonly type: string,
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

  private formIn(encoding: Encoding): Promise<Form> {
    let form = this.forms.get(encoding);
    if (!form) this.forms.set(encoding, (form = this.compress(encoding)));
    return form;
  }

  private async compress(encoding: Encoding): Promise<Form> {
    const { body } = this.plain;
    const compressed =
      encoding === 'gzip'
        ? await toGzip(body, { level: constants.Z_BEST_COMPRESSION })
        : await toBrotli(body, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: body.length } });
    return { body: compressed, etag: `"${this.hash}-${encoding}"`, encoding };
  }
}

/** The best encoding that the client accepts; undefined if it accepts none. */
export const encodingFor = (request: FastifyRequest): Encoding | undefined =>
  ENCODINGS.find((encoding) => accepts(request.raw).encodings([encoding]) === encoding);

/** RFC 9110 §13.1.2: a list of entity tags, compared weakly, or an asterisk. */
const isHad = (ifNoneMatch: string | undefined, etag: string): boolean =>
  ifNoneMatch !== undefined &&
  ifNoneMatch.split(',').some((each) => ['*', etag, `W/${etag}`].includes(each.trim()));
