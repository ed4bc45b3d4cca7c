/** The `Content-ID` of a logo in a mail (RFC 2392): it is a part of the mail, so that nothing is fetched to show it. */
export const cidOf = (logoId: string): string => `${logoId}@logo`;

/** The HTML of a mail without the images of a logo, for one that was removed while the mail waited. */
export const withoutLogo = (html: string, logoId: string): string =>
  html.replaceAll(new RegExp(`<img src="cid:${cidOf(logoId)}"[^>]*>`, 'g'), '');
