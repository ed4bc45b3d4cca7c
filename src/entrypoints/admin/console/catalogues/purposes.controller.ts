import { LANGUAGES } from '#platform/language/languages.js';
import { Param } from '@nestjs/common';
import { Context } from '#platform/http/page-routes/page-context.js';
import { nameViolations } from '#platform/http/validation/name-rule.js';
import { PURPOSE_NAME, type PurposeEntity } from '#access/scopes/purposes/purpose.entity.js';
import { purposeViolations } from '#access/scopes/purposes/purpose-words.js';
import { PurposesService } from '#access/scopes/purposes/purposes.service.js';
import type { ConsoleAnswer, ConsoleContext } from '../console-context.js';
import { ConsolePages, ConsolePost, ConsoleGet } from '../console-pages.decorator.js';
import { refuseTogether } from '../form-attempt.js';
import type { FieldErrors } from '#platform/web/forms/field.js';
import {
  deletePurposePage,
  purposeFormPage,
  PURPOSES_PATH,
  purposesPage,
  wordsField,
} from './purposes.pages.js';
import { textsIn, type Texts } from './texts.js';

/** The catalogue of purposes in the console. */
@ConsolePages('purposes')
export class ConsolePurposesController {
  constructor(private readonly purposes: PurposesService) {}

  @ConsoleGet('', 'not asked', 'viewer')
  async list(): Promise<ConsoleAnswer> {
    return { page: purposesPage(await this.purposes.list()) };
  }

  @ConsoleGet('new', 'asked')
  askForNew(): ConsoleAnswer {
    return { page: purposeFormPage({ values: {} }) };
  }

  @ConsolePost('new', 'asked in the form')
  create(@Context() context: ConsoleContext): Promise<ConsoleAnswer> {
    return this.save(context, context.form.get('name')?.trim() ?? '');
  }

  @ConsoleGet(':purpose/edit', 'asked')
  async askForChanges(@Param('purpose') name: string): Promise<ConsoleAnswer> {
    const present = textsOf(await this.purposes.get(name));
    return { page: purposeFormPage({ name, values: present, present }) };
  }

  @ConsolePost(':purpose/edit', 'asked in the form')
  async change(@Context() context: ConsoleContext, @Param('purpose') name: string): Promise<ConsoleAnswer> {
    return this.save(context, name, textsOf(await this.purposes.get(name)));
  }

  @ConsoleGet(':purpose/delete', 'asked')
  async askToDelete(@Param('purpose') name: string): Promise<ConsoleAnswer> {
    return { page: deletePurposePage(await this.purposes.get(name)) };
  }

  /** A purpose that a client declares stays: 409. */
  @ConsolePost(':purpose/delete', 'asked')
  async delete(@Context() context: ConsoleContext, @Param('purpose') name: string): Promise<ConsoleAnswer> {
    await this.purposes.delete(name, context.actor);
    return { goTo: PURPOSES_PATH, notice: 'purpose_deleted' };
  }

  private async save(context: ConsoleContext, name: string, present?: Texts): Promise<ConsoleAnswer> {
    const textOf = textsIn(context.form, present);
    const typed = LANGUAGES.map((language) => [language, textOf(wordsField(language))] as const);
    // A language that is left empty has no words; English is needed.
    const words = Object.fromEntries(
      typed.filter(([language, text]) => language === 'en' || text.trim() !== ''),
    );
    const { errors } = await context.attemptWithPassword(async () => {
      refuseTogether(nameViolations(PURPOSE_NAME, name), purposeViolations(words));
      await this.purposes.put(name, words, context.actor, { onlyNew: !present });
    });
    if (!errors) return { goTo: PURPOSES_PATH, notice: 'purpose_saved' };
    const values = Object.fromEntries(typed.map(([language, text]) => [wordsField(language), text]));
    return { page: this.form(name, values, present, errors), status: 400 };
  }

  private form(
    name: string,
    values: Record<string, string>,
    present: Texts | undefined,
    errors: FieldErrors,
  ) {
    return purposeFormPage(
      present ? { name, values, present, errors } : { values: { name, ...values }, errors },
    );
  }
}

const textsOf = ({ words }: PurposeEntity): Record<string, string> =>
  Object.fromEntries(LANGUAGES.map((language) => [wordsField(language), words[language] ?? '']));
