import { Injectable } from '@nestjs/common';
import { Settings } from '#platform/config/settings.js';
import { ONCE_FIELD } from '#platform/web/forms/form.js';
import { formExpired } from '../problems/problem.js';
import { isId, newId, type IdPrefix } from '#platform/secrets/ids.js';
import { Signer } from '#platform/secrets/signer.js';
import type { Form } from './form.js';

/**
 * Ids of what forms will create, generated when a form is shown, so that it is created once however often the form is posted. An
 * id is signed for its owner, a user or a client, and the form's path, so nobody can choose one.
 */
@Injectable()
export class FormIds {
  private readonly signer: Signer;

  constructor(settings: Settings) {
    this.signer = new Signer('form ids', settings.encryptionKeys);
  }

  /** The value of the hidden field in a form shown to this owner. */
  make(prefix: IdPrefix, ownerId: string, path: string): string {
    const id = newId(prefix);
    return `${id}.${this.signer.sign(`${id} ${ownerId} ${path}`)}`;
  }

  /** The id in the form; throws a 403 problem if it was not generated for this owner and path. */
  read(form: Form, prefix: IdPrefix, ownerId: string, path: string): string {
    const [id = '', mac = ''] = form.get(ONCE_FIELD)?.split('.') ?? [];
    if (!isId(prefix, id) || !this.signer.verify(`${id} ${ownerId} ${path}`, mac)) {
      throw formExpired('This form has expired. Go back, reload the page and try again.');
    }
    return id;
  }
}
