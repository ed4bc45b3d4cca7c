import type { LayoutProps } from './layout.js';
import { messagePage } from './message.page.js';

/** A page that goes on to another site by itself, with a link for browsers that do not. */
export const wayOutPage = (to: string, name: string, heading = `Going on to ${name}`): LayoutProps => ({
  ...messagePage({
    title: heading,
    heading,
    text: `Your browser goes on to ${name} by itself. If it does not, use the link.`,
    action: { href: to, label: `Continue to ${name}` },
  }),
  goesOnTo: to,
});
