import { Injectable } from '@nestjs/common';
import { createHash } from 'node:crypto';
import { LogosRepository } from './brand.repository.js';

const DIGEST = /^[0-9a-f]{64}$/;

/** Logos of the service and of clients, by their digest, so that browsers may cache them forever. */
@Injectable()
export class LogosService {
  constructor(private readonly repository: LogosRepository) {}

  /** Stores an image that `logoFrom` has made, in the transaction that then refers to it. Returns its id. */
  async store(image: Buffer): Promise<string> {
    const id = createHash('sha256').update(image).digest('hex');
    await this.repository.store(id, image);
    return id;
  }

  /** The PNG; undefined for an unknown one. */
  async find(id: string): Promise<Buffer | undefined> {
    return DIGEST.test(id) ? this.repository.imageOf(id) : undefined;
  }

  /** The existing PNGs among these ids. */
  async findAll(ids: string[]): Promise<Map<string, Buffer>> {
    return ids.length === 0 ? new Map() : this.repository.imagesOf(ids);
  }
}
