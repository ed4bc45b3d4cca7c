import { Injectable } from '@nestjs/common';

/** The origins that a form posted to this path may be redirected to; empty for forms that stay in this service. */
export type FormTargetsOf = (path: string) => string[];

/** The origins that the browser may be redirected to from this path of the service; empty if it stays in the service. */
export type TargetsAfter = (returnTo: string) => Promise<string[]>;

/**
 * The port through which higher modules name where forms lead outside of this service, whichever page they are on: Chromium applies a
 * page's `form-action` also to redirects after its forms.
 */
@Injectable()
export class FormTargets {
  private readonly parts: FormTargetsOf[] = [];
  private readonly further: TargetsAfter[] = [];

  /** Called once by each module with such forms. */
  add(part: FormTargetsOf): void {
    this.parts.push(part);
  }

  /** Called once by each module with pages that redirect to outside of this service, after forms of others. */
  addAfter(part: TargetsAfter): void {
    this.further.push(part);
  }

  /** The targets of a form that leads to this path of the service in the end. */
  async after(returnTo: string | undefined): Promise<string[]> {
    if (returnTo === undefined) return [];
    return (await Promise.all(this.further.map((part) => part(returnTo)))).flat();
  }

  /** The targets of all forms that are posted to these paths. */
  of(paths: Iterable<string>): string[] {
    return [...new Set([...paths].flatMap((path) => this.parts.flatMap((part) => part(path))))];
  }
}
