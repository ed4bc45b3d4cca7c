import { BRAND_FORM, type BrandFormValues, BrandDto, brandValuesOf } from '#records/brand/brand.resource.js';
import { BrandService } from '#records/brand/brand.service.js';
import { logoFrom, LOGO_FIELD } from '#records/brand/logo-image.js';
import type { BrandValues } from '#platform/config/brand-values.js';
import { Context } from '#platform/http/page-routes/page-context.js';
import type { ConsoleAnswer, ConsoleContext } from '#entrypoints/admin/console/console-context.js';
import { CONSOLE_NOTICES } from '#entrypoints/admin/console/console-notices.js';
import {
  ConsoleGet,
  ConsolePages,
  ConsolePost,
  ConsoleUpload,
} from '#entrypoints/admin/console/console-pages.decorator.js';
import { attempt, formValue } from '#entrypoints/admin/console/form-attempt.js';
import type { FieldErrors } from '#platform/web/forms/field.js';
import { BRAND_PATH, brandLogoPage, brandPage, brandPreview, editBrandPage } from './brand.pages.js';

const NOTICES = CONSOLE_NOTICES.add({
  brand_saved: 'Brand saved. Pages and mails show it from now on.',
});

/** The brand: how pages and mails present the company. */
@ConsolePages('brand')
export class ConsoleBrandController {
  constructor(private readonly brand: BrandService) {}

  @ConsoleGet('', 'not asked', 'viewer')
  show(): ConsoleAnswer {
    return { page: brandPage(this.brand.current) };
  }

  @ConsoleGet('edit', 'asked')
  askForChanges(): ConsoleAnswer {
    const present = BRAND_FORM.of(this.brand.current);
    return { page: editBrandPage({ fields: present, present }) };
  }

  /** Saves what was typed, or shows a page with it, or the form again. */
  @ConsolePost('edit', 'asked in the form')
  async change(@Context() context: ConsoleContext): Promise<ConsoleAnswer> {
    const present = BRAND_FORM.of(this.brand.current);
    const fields = BRAND_FORM.changedIn(context.form, present);
    const refused = (errors: FieldErrors): ConsoleAnswer => ({
      page: editBrandPage({ fields, present, errors }),
      status: 400,
    });
    switch (context.form.get('do')) {
      case 'edit':
        return { page: editBrandPage({ fields, present }) };
      case 'preview': {
        const { result: values, errors } = await attempt(() => valuesIn(fields));
        if (errors) return refused(errors);
        return { page: brandPreview(this.brand.with(values), { fields, present }) };
      }
      default: {
        const { errors } = await context.attemptWithPassword(async () =>
          this.brand.change(await valuesIn(fields), context.actor),
        );
        return errors ? refused(errors) : { goTo: BRAND_PATH, notice: NOTICES.brand_saved };
      }
    }
  }

  @ConsoleGet('logo', 'asked')
  askForLogo(): ConsoleAnswer {
    return { page: brandLogoPage(this.brand.current) };
  }

  @ConsoleUpload('logo', 'asked')
  async upload(@Context() context: ConsoleContext): Promise<ConsoleAnswer> {
    const { errors } = await attempt(async () =>
      this.brand.changeLogo(await logoFrom(context.file(LOGO_FIELD)), context.actor),
    );
    if (errors) return { page: brandLogoPage(this.brand.current, errors), status: 400 };
    return { goTo: BRAND_PATH, notice: 'logo_saved' };
  }

  @ConsolePost('logo/remove', 'asked on the page above')
  async removeLogo(@Context() context: ConsoleContext): Promise<ConsoleAnswer> {
    await this.brand.changeLogo(null, context.actor);
    return { goTo: BRAND_PATH, notice: 'logo_removed' };
  }
}

/** What was typed, by the rules; an empty field means no value. */
const valuesIn = async (fields: BrandFormValues): Promise<BrandValues> =>
  brandValuesOf(await formValue(BrandDto, BRAND_FORM.newMembers(fields)));
