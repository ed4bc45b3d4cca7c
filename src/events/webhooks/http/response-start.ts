import { HTTP2_ONLY, HttpFailure } from './http-outcome.js';

/** More interim responses than this, or more bytes of them, are abusive. */
const INTERIM_RESPONSES = 10;
const INTERIM_BYTES = 16 * 1024;

const PROTOCOL = Buffer.from('HTTP/');
/** RFC 9112 §4, up to the code. */
const INTERIM_STATUS = /^HTTP\/\d\.\d 1\d\d/;
const CODE_AT = 'HTTP/1.1 '.length;
const STATUS_BYTES = CODE_AT + 3;

const CR = 13;
const LF = 10;

const FRAME_BYTES = 9;
const SETTINGS = 4;
const GOAWAY = 7;

/**
 * What comes before the final response: interim responses (1xx) are passed over, as RFC 9110 §15.2 demands, because undici takes a
 * 100 for the answer to another request. Also tells what is not HTTP/1 at all. Throws an HttpFailure (`http`).
 */
export class ResponseStart {
  private held: Buffer = Buffer.alloc(0);
  private interimResponses = 0;
  private interimBytes = 0;
  private isOver = false;

  /** Whether the receiver has begun to answer. */
  get hasBegun(): boolean {
    return this.isOver || this.interimResponses > 0;
  }

  /** Returns what belongs to the final response; null if nothing does so far. */
  passOn(chunk: Buffer): Buffer | null {
    if (this.isOver) return chunk;
    this.held = this.held.length === 0 ? chunk : Buffer.concat([this.held, chunk]);
    while (this.isWhole()) {
      if (!INTERIM_STATUS.test(this.held.toString('latin1', 0, STATUS_BYTES))) {
        this.isOver = true;
        return this.held;
      }
      if (!this.passOver()) return null;
    }
    return null;
  }

  /** Whether the status is there. Empty lines may stand before it (RFC 9112 §2.2). */
  private isWhole(): boolean {
    const from = this.held.findIndex((byte) => byte !== CR && byte !== LF);
    if (from !== 0) this.drop(from === -1 ? this.held.length : from);
    refuseOther(this.held);
    return this.held.length >= STATUS_BYTES;
  }

  /** Drops an interim response; false if its end has not arrived. */
  private passOver(): boolean {
    if (this.held.toString('latin1', CODE_AT, STATUS_BYTES) === '101') {
      throw new HttpFailure(
        'http',
        'The server switches to another protocol (101), which was not requested.',
      );
    }
    const end = endOfHead(this.held);
    if (end === -1) {
      this.checkBytes(this.held.length);
      return false;
    }
    this.interimResponses++;
    if (this.interimResponses > INTERIM_RESPONSES) {
      throw new HttpFailure('http', 'There were too many interim responses (1xx).');
    }
    this.drop(end);
    return true;
  }

  private drop(bytes: number): void {
    this.interimBytes += bytes;
    this.checkBytes(0);
    this.held = this.held.subarray(bytes);
  }

  private checkBytes(further: number): void {
    if (this.interimBytes + further <= INTERIM_BYTES) return;
    throw new HttpFailure('http', 'The interim responses (1xx) are too large.');
  }
}

/** Where the head that begins the bytes ends; -1 if it does not. */
function endOfHead(bytes: Buffer): number {
  const ends = ['\n\r\n', '\n\n'].flatMap((end) => {
    const at = bytes.indexOf(end);
    return at === -1 ? [] : [at + end.length];
  });
  return ends.length === 0 ? -1 : Math.min(...ends);
}

function refuseOther(bytes: Buffer): void {
  const start = bytes.subarray(0, PROTOCOL.length);
  if (start.equals(PROTOCOL.subarray(0, start.length))) return;
  // A frame begins with the length of its content, which is short in the first one.
  if (bytes[0] === 0 && bytes.length < FRAME_BYTES) return;
  throw new HttpFailure('http', isHttp2(bytes) ? HTTP2_ONLY : 'The response is not valid HTTP/1.1.');
}

/** Whether the bytes begin with a frame that a server of HTTP/2 sends first, on stream 0 (RFC 9113 §3.4, §4.1). */
const isHttp2 = (bytes: Buffer): boolean =>
  bytes.length >= FRAME_BYTES &&
  bytes[0] === 0 &&
  (bytes[3] === SETTINGS || bytes[3] === GOAWAY) &&
  bytes.readUInt32BE(5) === 0;
