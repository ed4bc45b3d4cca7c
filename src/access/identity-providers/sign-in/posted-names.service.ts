import { Injectable } from '@nestjs/common';
import type { IdentityProvider } from '#platform/config/identity-providers.js';
import { Settings } from '#platform/config/settings.js';
import type { Form } from '#platform/http/forms/form.js';
import { SealedBox } from '#platform/secrets/sealed-box.js';
import { fitName } from '../protocol/person.js';

const PARAMETER = 'name';

/**
 * The name that a provider with `response_mode: form_post` posts beside its answer, as Apple does when someone first logs in: JSON in the
 * field `user`, `{"name": {"firstName", "lastName"}}`. It goes on in the address of the callback, sealed, so that it is in no log, and bound to the
 * answer's state.
 */
@Injectable()
export class PostedNames {
  private readonly box: SealedBox;

  constructor(settings: Settings) {
    this.box = new SealedBox('provider sign-in', settings.encryptionKeys);
  }

  /** The parameter of the callback for the name in a posted answer, if there is one. */
  parameterFor({ responseMode }: IdentityProvider, answer: Form): [string, string][] {
    const name = responseMode === 'form_post' ? nameIn(answer.get('user')) : undefined;
    if (name === undefined) return [];
    return [[PARAMETER, this.box.seal(name, bindingOf(answer)).toString('base64url')]];
  }

  /** The name in the query of the callback; undefined if this service has not put it there for this answer. */
  in({ responseMode }: IdentityProvider, query: Form): string | undefined {
    const sealed = responseMode === 'form_post' ? query.get(PARAMETER) : undefined;
    return sealed === undefined
      ? undefined
      : this.box.open(Buffer.from(sealed, 'base64url'), bindingOf(query));
  }
}

/** Unlike that of a started sign-in, which is bound to the state alone. */
const bindingOf = (answer: Form): string => `name ${answer.get('state') ?? ''}`;

function nameIn(text: string | undefined): string | undefined {
  let user: unknown;
  try {
    user = JSON.parse(text ?? '');
  } catch {
    return undefined;
  }
  const { firstName, lastName } = (user as { name?: Record<string, unknown> | null } | null)?.name ?? {};
  return fitName(
    [firstName, lastName].flatMap((part) => (typeof part === 'string' ? [part.trim()] : [])).join(' '),
  );
}
