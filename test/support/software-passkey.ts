import { createHash, createSign, generateKeyPairSync, randomBytes, type KeyObject } from 'node:crypto';
import { listOf } from './list-of.js';

/** What a test changes about an answer that would otherwise be right. */
export interface Tampering {
  challenge?: string;
  origin?: string;
  rpId?: string;
  type?: string;
  /** Without it, the person was present, but not verified. */
  userVerified?: boolean;
  userPresent?: boolean;
  /** The signature is made with another key. */
  signedBy?: KeyObject;
  counter?: number;
  userHandle?: string | undefined;
  credentialId?: string;
}

const USER_PRESENT = 0x01;
const USER_VERIFIED = 0x04;
const HAS_CREDENTIAL = 0x40;

const base64Url = (bytes: Buffer | string): string => Buffer.from(bytes).toString('base64url');
const sha256 = (bytes: Buffer | string): Buffer => createHash('sha256').update(bytes).digest();

/** A small part of CBOR (RFC 8949): what attestation objects and COSE keys are made of. */
function cbor(value: number | string | Buffer | Map<number | string, unknown>): Buffer {
  if (typeof value === 'number') return value >= 0 ? head(0, value) : head(1, -1 - value);
  if (typeof value === 'string')
    return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)]);
  if (Buffer.isBuffer(value)) return Buffer.concat([head(2, value.length), value]);
  const parts = [...value].flatMap(([key, each]) => [cbor(key), cbor(each as Buffer)]);
  return Buffer.concat([head(5, value.size), ...parts]);
}

function head(major: number, length: number): Buffer {
  if (length < 24) return Buffer.from([(major << 5) | length]);
  if (length < 256) return Buffer.from([(major << 5) | 24, length]);
  return Buffer.from([(major << 5) | 25, length >> 8, length & 255]);
}

/** An authenticator in software, with one credential: it answers as browsers do, or as a test wants it to. */
export class SoftwarePasskey {
  readonly credentialId = base64Url(randomBytes(32));
  private readonly keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  private userHandle = '';
  counter = 0;

  constructor(
    private readonly origin: string,
    /** Whether it counts its signatures; most do not. */
    private readonly counts = false,
  ) {}

  /** Answers the options of a page that adds a passkey. */
  create(options: { challenge: string; user: { id: string } }, tampering: Tampering = {}): string {
    this.userHandle = options.user.id;
    const { x, y } = this.keys.publicKey.export({ format: 'jwk' });
    const publicKey = cbor(
      new Map<number, unknown>([
        [1, 2],
        [3, -7],
        [-1, 1],
        [-2, Buffer.from(x!, 'base64url')],
        [-3, Buffer.from(y!, 'base64url')],
      ]),
    );
    const id = Buffer.from(tampering.credentialId ?? this.credentialId, 'base64url');
    const length = Buffer.from([id.length >> 8, id.length & 255]);
    const credential = Buffer.concat([Buffer.alloc(16), length, id, publicKey]);
    const authData = Buffer.concat([this.authenticatorData(tampering, HAS_CREDENTIAL), credential]);
    const attestation = new Map<string, unknown>([
      ['fmt', 'none'],
      ['attStmt', new Map()],
      ['authData', authData],
    ]);
    const clientDataJSON = this.clientData('webauthn.create', options.challenge, tampering);
    const response = { clientDataJSON, attestationObject: base64Url(cbor(attestation)), transports: ['usb'] };
    return JSON.stringify(this.credentialWith(response, tampering));
  }

  /** Answers the options of a login. */
  get(options: { challenge: string }, tampering: Tampering = {}): object {
    if (this.counts) this.counter++;
    const clientDataJSON = this.clientData('webauthn.get', options.challenge, tampering);
    const authenticatorData = this.authenticatorData(tampering);
    const signed = Buffer.concat([authenticatorData, sha256(Buffer.from(clientDataJSON, 'base64url'))]);
    const signature = createSign('sha256')
      .update(signed)
      .sign(tampering.signedBy ?? this.keys.privateKey);
    const response = {
      clientDataJSON,
      authenticatorData: base64Url(authenticatorData),
      signature: base64Url(signature),
      userHandle: 'userHandle' in tampering ? tampering.userHandle : this.userHandle,
    };
    return this.credentialWith(response, tampering);
  }

  private credentialWith(response: object, { credentialId = this.credentialId }: Tampering): object {
    return {
      id: credentialId,
      rawId: credentialId,
      type: 'public-key',
      clientExtensionResults: {},
      response,
    };
  }

  private clientData(type: string, challenge: string, tampering: Tampering): string {
    const data = { type, challenge, origin: this.origin, crossOrigin: false };
    const { challenge: otherChallenge, origin, type: otherType } = tampering;
    return base64Url(
      JSON.stringify({
        ...data,
        ...(otherType ? { type: otherType } : {}),
        ...(otherChallenge ? { challenge: otherChallenge } : {}),
        ...(origin ? { origin } : {}),
      }),
    );
  }

  private authenticatorData(tampering: Tampering, more = 0): Buffer {
    const { rpId, userPresent = true, userVerified = true, counter = this.counter } = tampering;
    const flags = (userPresent ? USER_PRESENT : 0) | (userVerified ? USER_VERIFIED : 0) | more;
    const count = Buffer.alloc(4);
    count.writeUInt32BE(counter);
    return Buffer.concat([sha256(rpId ?? new URL(this.origin).hostname), Buffer.from([flags]), count]);
  }
}

/** Registrations that a service must refuse. */
export const WRONG_REGISTRATIONS: [string, Tampering][] = [
  ['with another challenge', { challenge: Buffer.alloc(32, 'x').toString('base64url') }],
  ['from another origin', { origin: 'https://evil.example' }],
  ['for another site', { rpId: 'evil.example' }],
  ['with the answer of a login', { type: 'webauthn.get' }],
  ['without user verification', { userVerified: false }],
  ['without anybody present', { userPresent: false }],
  ['under an id that no index can hold', { credentialId: base64Url(randomBytes(4_000)) }],
  ['under an id of more than 1023 bytes', { credentialId: base64Url(randomBytes(1_024)) }],
];

/** What no registration looks like. */
export const NO_REGISTRATIONS = listOf(`
  null, [], {}, {"id":1}, not JSON, {"response":{"clientDataJSON":"e30"}}
`);
