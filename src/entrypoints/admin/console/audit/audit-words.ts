/** What an entry of the audit log says between who acted and what it was about. */
export interface AuditWords {
  /** Such as “added a passkey”. */
  did: string;
  /** What leads on to the subject, such as “of user”; undefined where the sentence ends, because the subject is who acted. */
  to: string | undefined;
}

/** Actions whose names do not read as sentences: the words, and those before a subject that is not who acted. */
const SENTENCES: Record<string, [did: string, to: string]> = {
  'session.started': ['logged in', 'as'],
  'session.ended': ['logged out', 'as'],
  'session.refused': ['was refused a login', 'as'],
  'session.confirmed': ['confirmed who they are', 'as'],
  'session.confirmation_refused': ['could not confirm who they are', 'as'],
  'session.others_ended': ['logged out everywhere else', 'as'],
  'portal_session.started': ['opened the portal', 'of'],
  'user.sign_in_ways_ended': ['ended all ways to log in', 'of'],
  'user.list_downloaded': ['downloaded a list', 'of'],
  'user.exported': ['downloaded their data', 'as'],
  'user.export_requested': ['asked for their data', 'as'],
  'user.email_verified': ['confirmed the address', 'of'],
  'user.mails_chosen': ['chose their mails', 'as'],
};

/** Participles that are not the past tense, too. */
const PAST: Record<string, string> = {
  chosen: 'chose',
  given: 'gave',
  refused: 'was refused',
  taken: 'took',
  withdrawn: 'withdrew',
  written: 'wrote',
};

/** The sentence of an action, `<type>.<object>_<participle>`, on a subject of this type. */
export function auditWordsOf(action: string, subjectType: string, isOwn: boolean): AuditWords {
  const sentence = SENTENCES[action];
  if (sentence) return { did: sentence[0], to: isOwn ? undefined : sentence[1] };
  const words = action.slice(action.indexOf('.') + 1).split('_');
  const participle = words.pop()!;
  const verb = PAST[participle] ?? participle;
  const type = subjectType.replaceAll('_', ' ');
  if (words.length === 0)
    return isOwn ? { did: `${verb} their ${type}`, to: undefined } : { did: verb, to: type };
  const object = words.join(' ');
  return { did: `${verb} ${articleOf(object)}${object}`, to: isOwn ? undefined : `of ${type}` };
}

const articleOf = (object: string): string => {
  if (/[^s]s$/.test(object)) return '';
  return /^[aeiou]/.test(object) ? 'an ' : 'a ';
};
