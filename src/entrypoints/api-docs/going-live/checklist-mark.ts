/** Stands in the text of a guide where the checklist belongs. */
export const CHECKLIST_MARK = '@checklist@';
