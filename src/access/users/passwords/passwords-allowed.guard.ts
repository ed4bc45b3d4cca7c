import { Injectable, type CanActivate } from '@nestjs/common';
import { Settings } from '#platform/config/settings.js';
import { notFound } from '#platform/http/problems/problem.js';
import { say } from '#platform/language/text.js';

/** Answers 404 for pages and links of passwords while nobody can log in with one (`PASSWORD_SIGN_IN`, contract §15). */
@Injectable()
export class PasswordsAllowedGuard implements CanActivate {
  constructor(private readonly settings: Settings) {}

  canActivate(): boolean {
    if (!this.settings.passwordSignIn) throw notFound(say('Nobody logs in with a password here.'));
    return true;
  }
}
