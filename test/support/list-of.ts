/** The names in a text, which stand between commas: a list too long for one line. */
export const listOf = (text: string): string[] => text.trim().split(/,\s+/);
