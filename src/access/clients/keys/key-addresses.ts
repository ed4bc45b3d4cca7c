import { Injectable } from '@nestjs/common';
import type { Violation } from '#platform/http/problems/violation.js';

/** Says what is wrong with the address of a client's keys; undefined if nothing is. */
type AddressCheck = (address: string) => Promise<Violation | undefined>;

/** A port: what fetches the keys of clients says which addresses it would not ask, before one is saved. */
@Injectable()
export class KeyAddresses {
  private judge: AddressCheck | undefined;

  register(check: AddressCheck): void {
    this.judge = check;
  }

  async check(address: string): Promise<Violation | undefined> {
    return this.judge?.(address);
  }
}
