import { Injectable } from '@nestjs/common';
import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { Settings } from '../../config/settings.js';
import type { Form } from '../../http/forms/form.js';
import { ONCE_FIELD } from '../../web/forms/form.js';
import { formExpired } from '../../http/problems/problem.js';
import { isId, newId, type IdPrefix } from '../../secrets/ids.js';

/**
 * The id of what a form will create, chosen when the form is shown: however often the form is posted, it is created once. The id
 * is authenticated for the operator and the form's path, so nobody can choose ids.
 */
@Injectable()
export class FormIds {
  private readonly keys: Buffer[];

  constructor(settings: Settings) {
    this.keys = settings.encryptionKeys.map((key) =>
      Buffer.from(hkdfSync('sha256', key, '', 'form ids', 32)),
    );
  }

  /** The value of the hidden field in a form shown to this user. */
  make(prefix: IdPrefix, userId: string, path: string): string {
    const id = newId(prefix);
    return `${id}.${macOf(this.keys[0]!, id, userId, path)}`;
  }

  /** The id in the form; throws a 403 problem if it was not made for this user and path. */
  read(form: Form, prefix: IdPrefix, userId: string, path: string): string {
    const [id = '', mac = ''] = form.get(ONCE_FIELD)?.split('.') ?? [];
    const isOurs = this.keys.some((key) => isSame(macOf(key, id, userId, path), mac));
    if (!isId(prefix, id) || !isOurs) {
      throw formExpired('This form has expired. Go back, reload the page and try again.');
    }
    return id;
  }
}

const macOf = (key: Buffer, id: string, userId: string, path: string): string =>
  createHmac('sha256', key).update(`${id} ${userId} ${path}`).digest('base64url');

function isSame(right: string, given: string): boolean {
  const [a, b] = [Buffer.from(right), Buffer.from(given)];
  return a.length === b.length && timingSafeEqual(a, b);
}
