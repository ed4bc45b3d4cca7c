import { said, say, type Said } from '#platform/language/text.js';
import type { LayoutProps } from './layout.js';
import { messagePage } from './message.page.js';

interface Words {
  heading: string | Said;
  text: string | Said;
  label: string | Said;
}

const toApplication: Words = {
  heading: say('Going on to the application'),
  text: say('Your browser goes on to the application by itself. If it does not, use the link.'),
  label: say('Continue to the application'),
};

const toNamed = (name: string): Words => ({
  heading: said(say('Going on to {name}'), { name }),
  text: said(say('Your browser goes on to {name} by itself. If it does not, use the link.'), { name }),
  label: said(say('Continue to {name}'), { name }),
});

/**
 * A page that redirects to another site, with a link for browsers that do not follow. Without a name, the site is called an
 * application; `ownHeading` is a message.
 */
export function wayOutPage(to: string, name: string | undefined, ownHeading?: string): LayoutProps {
  const { heading, text, label } = name === undefined ? toApplication : toNamed(name);
  return {
    ...messagePage({
      title: ownHeading ?? heading,
      heading: ownHeading ?? heading,
      text,
      action: { href: to, label },
      isTranslated: true,
    }),
    goesOnTo: to,
  };
}
