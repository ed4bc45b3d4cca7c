import type { ListedField } from '../http/resources/resource.js';
import type { Command } from './command.js';

interface Creatable {
  list: readonly ListedField[];
}

const isList = ({ view }: ListedField): boolean => view?.type === 'array';
const isRequired = ({ given, initial }: ListedField): boolean =>
  given === 'required' && initial === undefined;

/** The options of a command that creates a resource. */
export function creationOf({ list }: Creatable): Pick<Command, 'usage' | 'options'> {
  const taken = list.flatMap((field) => (field.option ? [{ field, option: field.option }] : []));
  const [required, optional] = [
    taken.filter(({ field }) => isRequired(field)),
    taken.filter(({ field }) => !isRequired(field)),
  ];
  const written = ({ field, option: [name, value] }: (typeof taken)[number]): string =>
    `--${name} ${value}${isList(field) ? '…' : ''}`;
  return {
    usage: [...required.map(written), ...optional.map((each) => `[${written(each)}]`)].join(' '),
    options: taken.map(({ field, option: [name] }) => ({
      name,
      required: isRequired(field),
      repeatable: isList(field),
    })),
  };
}

/** The members of a body as given on the command line, to be judged by its rules. */
export const membersIn = ({ list }: Creatable, options: Record<string, string[] | undefined>): object =>
  Object.fromEntries(
    list.flatMap((field) => {
      const given = options[field.option?.[0] ?? ''];
      return given
        ? [[field.wire, isList(field) ? given : valueOf(field, given[0]!)]]
        : field.given === 'required'
          ? [[field.wire, field.initial]]
          : [];
    }),
  );

/** `true` and `false` as such; anything else is refused by the rules. */
const valueOf = ({ view }: ListedField, text: string): unknown =>
  view?.type === 'boolean' ? (({ true: true, false: false } as Record<string, boolean>)[text] ?? text) : text;
