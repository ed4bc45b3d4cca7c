/** What a page route returns: a page, or a redirect to one, which then shows a notice or something just created, once. */
export type PageAnswer<Page, Notice extends string = never> =
  | {
      page: Page;
      status?: number;
      /** Other targets of its forms. */
      formTargets?: string[];
    }
  | { goTo: string; status?: 302; notice?: Notice; showOnce?: object };
