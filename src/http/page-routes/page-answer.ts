/** What a page route returns: a page, or a redirect to one, which then shows a notice or something just created, once. */
export type PageAnswer<Notice extends string = string> =
  | { html: string; status?: number; withScript?: boolean }
  | { goTo: string; notice?: Notice; showOnce?: object };
