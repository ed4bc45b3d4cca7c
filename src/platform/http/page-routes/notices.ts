declare const ADDED: unique symbol;

/** The name of a notice that a feature added. */
export type AddedNotice = string & { readonly [ADDED]: true };

/** The notices that the pages of an area show after a form. A feature adds its own where it is loaded. */
export class Notices<Name extends string> {
  readonly texts: Record<string, string>;

  constructor(texts: Readonly<Record<Name, string>>) {
    this.texts = { ...texts };
  }

  /** Returns their names. */
  add<Added extends string>(texts: Readonly<Record<Added, string>>): Record<Added, AddedNotice> {
    Object.assign(this.texts, texts);
    return Object.fromEntries(Object.keys(texts).map((name) => [name, name])) as Record<Added, AddedNotice>;
  }
}
