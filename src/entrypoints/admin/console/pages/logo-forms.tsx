import type { VNode } from 'preact';
import { FileField, type FieldErrors } from '#platform/web/forms/field.js';
import { Buttons, PostButton } from '#platform/web/forms/form.js';
import { logoPath } from '#platform/web/layout/brand.js';
import { ConsoleForm } from './console-form.js';

export interface LogoFormsProps {
  /** The id of the present logo. */
  logoId: string | null;
  /** The path that the form is posted to; `/remove` below it removes the logo. */
  path: string;
  /** The parent page. */
  back: string;
  errors?: FieldErrors;
}

/** The present logo, with forms to replace and remove it. */
export const LogoForms = ({ logoId, path, back, errors }: LogoFormsProps): VNode => (
  <>
    {logoId === null ? (
      <p class="empty">There is no logo yet.</p>
    ) : (
      <p>
        <img class="logo-shown" src={logoPath(logoId)} alt="The present logo" />
      </p>
    )}
    <ConsoleForm action={path} errors={errors} submit="Upload" cancel={back} withFile>
      <FileField
        name="logo"
        label="Image"
        hint="A PNG, JPEG or WebP image of at most 1 MB. It is stored at most 512 pixels wide and high, without anything else that the file holds."
        accept="image/png,image/jpeg,image/webp"
      />
    </ConsoleForm>
    {logoId !== null && (
      <Buttons heading="Remove the logo">
        <PostButton action={`${path}/remove`} look="danger">
          Remove
        </PostButton>
      </Buttons>
    )}
  </>
);
