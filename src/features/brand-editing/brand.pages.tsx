import type { VNode } from 'preact';
import { BRAND_FORM, type BrandFormValues } from '#records/brand/brand.resource.js';
import { FormFields, TextField, type FieldErrors } from '#platform/web/forms/field.js';
import { LinkButton, PostForm } from '#platform/web/forms/form.js';
import { logoPath, type Brand } from '#platform/web/layout/brand.js';
import type { LayoutProps } from '#platform/web/layout/layout.js';
import { Facts } from '#platform/web/tables/facts.js';
import { ConsoleForm } from '#entrypoints/admin/console/pages/console-form.js';
import { CONSOLE_PARTS, type ConsolePage } from '#entrypoints/admin/console/pages/console-layout.js';
import { PageLink } from '#entrypoints/admin/console/pages/lists.js';
import { LogoForms } from '#entrypoints/admin/console/pages/logo-forms.js';

export const BRAND_PATH = '/admin/console/brand';

const PART = CONSOLE_PARTS.add(
  'At a glance',
  { part: 'brand', icon: 'palette', href: BRAND_PATH, label: 'Brand' },
  'audit',
);

const EDIT_PATH = `${BRAND_PATH}/edit`;
const LOGO_PATH = `${BRAND_PATH}/logo`;

const above = [{ href: BRAND_PATH, label: 'Brand' }];

/** The brand of the service. */
export const brandPage = (brand: Brand): ConsolePage => ({
  part: PART,
  title: 'Brand',
  actions: (
    <>
      <LinkButton look="quiet" href={LOGO_PATH}>
        Logo
      </LinkButton>
      <LinkButton look="quiet" href={EDIT_PATH}>
        Edit
      </LinkButton>
    </>
  ),
  children: (
    <>
      <p class="lead">What people see on every page and in every mail of the service.</p>
      <Facts
        facts={[
          ['Name', <bdi>{brand.name}</bdi>],
          ['Accent colour', brand.accentColor === null ? NONE : <code>{brand.accentColor}</code>],
          [
            'Logo',
            brand.logoId === null ? NONE : <img class="logo-shown" src={logoPath(brand.logoId)} alt="Logo" />,
          ],
          ['Support address', brand.supportEmail === null ? NONE : <bdi>{brand.supportEmail}</bdi>],
          ['Privacy', brand.privacyUrl === null ? NONE : <PageLink url={brand.privacyUrl} />],
          ['Terms', brand.termsUrl === null ? NONE : <PageLink url={brand.termsUrl} />],
          ['Footer', brand.footer === null ? NONE : <bdi>{brand.footer}</bdi>],
        ]}
      />
    </>
  ),
});

const NONE = <span class="muted">none</span>;

interface BrandFormProps {
  fields: BrandFormValues;
  /** What is saved. */
  present: BrandFormValues;
}

/** The form; it can be previewed before it is saved. */
export const editBrandPage = ({
  fields,
  present,
  errors,
}: BrandFormProps & { errors?: FieldErrors }): ConsolePage => ({
  part: PART,
  title: 'Edit brand',
  above,
  children: (
    <ConsoleForm
      values={{ ...fields }}
      errors={errors}
      action={EDIT_PATH}
      hidden={BRAND_FORM.shown(present)}
      submit="Save"
      cancel={BRAND_PATH}
      otherButton={
        <button type="submit" class="quiet" name="do" value="preview">
          Preview
        </button>
      }
    >
      {BRAND_FORM.show(['name', 'accent_color', 'support_email', 'privacy_url', 'terms_url', 'footer'])}
    </ConsoleForm>
  ),
});

/** A page in a brand that is not saved, with what was typed. */
export const brandPreview = (brand: Brand, form: BrandFormProps): ConsolePage => ({
  title: 'Preview',
  children: null,
  preview: previewPage(brand, form),
});

const previewPage = (brand: Brand, { fields, present }: BrandFormProps): LayoutProps => ({
  title: 'Preview',
  brand,
  children: (
    <>
      <h1>Preview</h1>
      <p class="notice" role="status">
        This is how pages look with what you have entered. Nothing is saved yet. Check it on a dark screen
        too.
      </p>
      <section aria-labelledby="sample">
        <h2 id="sample">Log in</h2>
        <FormFields values={{ sample_email: 'ada@example.com' }}>
          <TextField name="sample_email" label="Email" />
        </FormFields>
        <div class="actions">
          <button type="button">Log in</button>
        </div>
        <p>
          <Sample brand={brand} />
        </p>
      </section>
      <PostForm action={EDIT_PATH} hidden={{ ...fields, ...BRAND_FORM.shown(present) }}>
        <div class="actions actions-pair">
          <button type="submit" class="quiet" name="do" value="edit">
            Go on editing
          </button>
          <button type="submit" name="do" value="save">
            Save
          </button>
        </div>
      </PostForm>
    </>
  ),
});

const Sample = ({ brand }: { brand: Brand }): VNode => (
  <>
    This is a link: <a href={BRAND_PATH}>the present brand of {brand.name}</a>.
  </>
);

/** The logo of the service. */
export const brandLogoPage = (brand: Brand, errors?: FieldErrors): ConsolePage => ({
  part: PART,
  title: 'Logo',
  above,
  children: <LogoForms logoId={brand.logoId} path={LOGO_PATH} back={BRAND_PATH} errors={errors} />,
});
