import {
  createHash,
  createPrivateKey,
  generateKeyPairSync,
  randomUUID,
  sign,
  type KeyObject,
} from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { UsageError } from './options.js';
import { isOpenToOthers, makeFile } from './private-file.js';

/** A key of this machine, to which tokens are bound (RFC 9449). It signs with ES256. */
export class DpopKey {
  private readonly jwk: { kty?: string; crv?: string; x?: string; y?: string };
  /** The last nonce of the service. */
  private nonce: string | undefined;

  private constructor(private readonly key: KeyObject) {
    const { kty, crv, x, y } = key.export({ format: 'jwk' });
    this.jwk = { kty, crv, x, y };
  }

  /**
   * The key in a file, which only its owner may read; made if there is none. Throws a UsageError if it is no private key on P-256, or
   * others may read it.
   */
  static async open(path: string): Promise<DpopKey> {
    try {
      const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const made = `${JSON.stringify(privateKey.export({ format: 'jwk' }))}\n`;
      const text = await readFile(path, 'utf8').catch(async (error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOENT') throw error;
        await makeFile(path, made);
        // Another process may have been faster.
        return readFile(path, 'utf8');
      });
      if (await isOpenToOthers(path))
        throw new UsageError(`--dpop-key: other users may read ${path}: chmod 600 it.`);
      const key = keyIn(text);
      if (!key) throw new UsageError(`--dpop-key: ${path} holds no private key on P-256 as a JWK.`);
      return new DpopKey(key);
    } catch (error) {
      if (error instanceof UsageError) throw error;
      const { code, message } = error as NodeJS.ErrnoException;
      throw new UsageError(`--dpop-key: ${path} cannot be used: ${code ?? message}`);
    }
  }

  /** A proof for one request, with a token if it carries one. */
  proof(method: string, url: URL, token?: string): string {
    const claims = {
      jti: randomUUID(),
      htm: method,
      htu: url.origin + url.pathname,
      iat: Math.floor(Date.now() / 1000),
      ...(token === undefined ? {} : { ath: createHash('sha256').update(token).digest('base64url') }),
      ...(this.nonce === undefined ? {} : { nonce: this.nonce }),
    };
    const text = [{ typ: 'dpop+jwt', alg: 'ES256', jwk: this.jwk }, claims]
      .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
      .join('.');
    const signature = sign('sha256', Buffer.from(text), { key: this.key, dsaEncoding: 'ieee-p1363' });
    return `${text}.${signature.toString('base64url')}`;
  }

  /** Keeps the nonce of an answer; returns whether it is a new one. */
  take(headers: Headers): boolean {
    const nonce = headers.get('dpop-nonce') ?? this.nonce;
    const isNew = nonce !== this.nonce;
    this.nonce = nonce;
    return isNew;
  }
}

function keyIn(text: string): KeyObject | undefined {
  try {
    const key = createPrivateKey({
      key: JSON.parse(text) as JsonWebKey & Record<string, unknown>,
      format: 'jwk',
    });
    return key.asymmetricKeyDetails?.namedCurve === 'prime256v1' ? key : undefined;
  } catch {
    return undefined;
  }
}
