import { Param, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Context } from '#platform/http/page-routes/page-context.js';
import { illegible } from '#platform/http/validation/legible-text.js';
import { SECURITY_PATH } from '#access/users/factors/factor-paths.js';
import { PasskeysService } from '#access/users/factors/passkeys.service.js';
import type { FieldErrors } from '#platform/web/forms/field.js';
import type { AccountAnswer, AccountContext } from './account-context.js';
import { AsksToConfirm, AccountGet, AccountPages, AccountPost } from './account.guard.js';
import { browserNameOf } from '#access/users/sessions/browser-name.js';
import { newPasskeyPage, passkeyPage, removePasskeyPage } from './pages/passkey.pages.js';

const NAME_MAX = 100;

/** Adds, renames and removes a user's passkeys. */
@AccountPages('security/passkeys')
export class AccountPasskeysController {
  constructor(private readonly passkeys: PasskeysService) {}

  /** The page whose script lets the browser create a passkey. */
  @AccountGet('new', AsksToConfirm())
  askForNew(
    @Context() context: AccountContext,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<AccountAnswer> {
    const name = browserNameOf(request.headers['user-agent'] ?? null, context.reader.language);
    return this.newForm(context, reply, name);
  }

  @AccountPost('new', AsksToConfirm())
  async add(
    @Context() context: AccountContext,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<AccountAnswer> {
    const { user, actor, form, t } = context;
    const { name, error } = nameIn(context);
    if (error) return this.newForm(context, reply, name, { name: error });
    const answer = form.get('response') ?? '';
    const added = await this.passkeys.add(user, answer, name, request, reply, actor);
    if (!added) {
      const form = t('The passkey was not added, because your browser’s answer was not right. Try again.');
      return this.newForm(context, reply, name, { form });
    }
    return { goTo: SECURITY_PATH, notice: 'passkey_added' };
  }

  @AccountGet(':id')
  async show(@Context() { user }: AccountContext, @Param('id') id: string): Promise<AccountAnswer> {
    return { page: passkeyPage({ passkey: await this.passkeys.get(user.id, id) }) };
  }

  @AccountPost(':id')
  async rename(@Context() context: AccountContext, @Param('id') id: string): Promise<AccountAnswer> {
    const { user, actor } = context;
    const passkey = await this.passkeys.get(user.id, id);
    const { name, error } = nameIn(context);
    if (error) return { page: passkeyPage({ passkey, name, error }), status: 400 };
    await this.passkeys.rename(user, id, name, actor);
    return { goTo: SECURITY_PATH, notice: 'passkey_renamed' };
  }

  @AccountGet(':id/remove', AsksToConfirm())
  async askToRemove(@Context() { user }: AccountContext, @Param('id') id: string): Promise<AccountAnswer> {
    return { page: removePasskeyPage(await this.passkeys.get(user.id, id)) };
  }

  @AccountPost(':id/remove', AsksToConfirm())
  async remove(@Context() { user, actor }: AccountContext, @Param('id') id: string): Promise<AccountAnswer> {
    await this.passkeys.remove(user, id, actor);
    return { goTo: SECURITY_PATH, notice: 'passkey_removed' };
  }

  private async newForm(
    { user }: AccountContext,
    reply: FastifyReply,
    name: string,
    errors?: FieldErrors,
  ): Promise<AccountAnswer> {
    const options = await this.passkeys.creationOptions(user, reply);
    return { page: newPasskeyPage({ options, name, errors }), status: errors ? 400 : 200 };
  }
}

function nameIn({ form, t }: AccountContext): { name: string; error?: string } {
  const name = form.get('name')?.trim() ?? '';
  if (!/[^\s\p{C}\p{Z}]/u.test(name) || name.length > NAME_MAX) {
    return { name, error: t('Enter a name of at most {max} characters.', { max: NAME_MAX }) };
  }
  const hidden = illegible(name);
  if (!hidden) return { name };
  const error = t(
    'The name must not contain control, bidirectional or invisible characters, such as {character}.',
    hidden.params as { character: string },
  );
  return { name, error };
}
