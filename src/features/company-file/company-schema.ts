import type { Type } from '@nestjs/common';
import { PRODUCT_NAME } from '#platform/config/brand-values.js';
import { MARKS, SECTIONS, type Section, type Shape } from './company-sections.js';

type Schema = Record<string, unknown>;

/** The JSON Schema of a company file, for editors: from the same declarations that it is checked by. */
export const companySchema = (): Schema => ({
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: `Company file of the ${PRODUCT_NAME}`,
  ...objectOf({
    [MARKS.first]: {
      const: true,
      description: `Written by an export, which ends with \`${MARKS.last}: true\`.`,
    },
    ...Object.fromEntries(Object.entries(SECTIONS).map(([name, each]) => [name, sectionSchema(each)])),
    [MARKS.last]: { const: true, description: 'The end of an export.' },
  }),
  dependentRequired: { [MARKS.first]: [MARKS.last] },
  minProperties: 1,
});

const objectOf = (properties: Record<string, Schema>, required: string[] = []): Schema => ({
  type: 'object',
  properties,
  additionalProperties: false,
  ...(required.length > 0 ? { required } : {}),
});

function sectionSchema(section: Section): Schema {
  const schema = shapeSchema(section);
  if (section.as === 'one') return schema;
  if (section.as === 'list') return { type: 'array', items: schema };
  const { names } = section;
  const name = names && 'pattern' in names ? { pattern: names.pattern.source } : { format: 'email' };
  return { type: 'object', propertyNames: name, additionalProperties: schema };
}

function shapeSchema({ dto, inner = {} }: Shape): Schema {
  const { properties, required } = membersOf(dto);
  for (const [name, { dto: of, isList }] of Object.entries(inner)) {
    properties[name] = isList ? { type: 'array', items: shapeSchema({ dto: of }) } : shapeSchema({ dto: of });
  }
  if (properties.generate) return { ...objectOf(properties), minProperties: 1, maxProperties: 1 };
  return objectOf(properties, required);
}

// Where `@ApiProperty` keeps what it was told: the library has no function for it.
const [NAMES, MEMBER] = ['swagger/apiModelPropertiesArray', 'swagger/apiModelProperties'];

function membersOf(dto: Type<object>): { properties: Record<string, Schema>; required: string[] } {
  const target = dto.prototype as object;
  const names = ((Reflect.getMetadata(NAMES, target) ?? []) as string[]).map((name) => name.slice(1));
  const properties: Record<string, Schema> = {};
  const required: string[] = [];
  for (const name of names) {
    const {
      required: isRequired,
      selfRequired,
      ...told
    } = Reflect.getMetadata(MEMBER, target, name) as Schema;
    if (isRequired !== false) required.push(name);
    // Elsewhere, `required` says whether the member itself is.
    properties[name] = { ...plain(told), ...(selfRequired ? { required: isRequired } : {}) };
  }
  return { properties, required };
}

/** As JSON Schema says it, where OpenAPI's decorators say it in another way. */
function plain({ nullable, example, isArray: _, items, ...schema }: Schema): Schema {
  return {
    ...schema,
    ...(items === undefined ? {} : { items: plain(items as Schema) }),
    ...(nullable ? { type: [schema.type, 'null'] } : {}),
    ...(example === undefined ? {} : { examples: [example] }),
  };
}
