import type { VNode } from 'preact';
import type { Schema } from '../openapi.js';

/** A schema as text: its members with types and descriptions; a named schema as a link to its section. */
export function SchemaView({ schema }: { schema: Schema }): VNode {
  const variants = schema.oneOf as Schema[] | undefined;
  if (variants) {
    return (
      <>
        {variants.map((variant, index) => (
          <>
            {index > 0 && <p>or</p>}
            <SchemaView schema={variant} />
          </>
        ))}
      </>
    );
  }
  const properties = schema.properties as Record<string, Schema> | undefined;
  if (!properties) return <Kind schema={schema} />;
  const required = (schema.required as string[] | undefined) ?? [];
  return (
    <dl class="docs-members">
      {Object.entries(properties).map(([name, member]) => (
        <div>
          <dt>
            <code>{name}</code>{' '}
            <small>
              <Kind schema={member} />
              {required.includes(name) ? '' : ', optional'}
            </small>
          </dt>
          <dd>
            {typeof member.description === 'string' ? member.description.replaceAll('`', '') : ''}
            {isObjectList(member) && <SchemaView schema={member.items as Schema} />}
          </dd>
        </div>
      ))}
    </dl>
  );
}

const isObjectList = (schema: Schema): boolean =>
  schema.type === 'array' && (schema.items as Schema).properties !== undefined;

function Kind({ schema }: { schema: Schema }): VNode {
  if (typeof schema.$ref === 'string') {
    const name = schema.$ref.split('/').at(-1)!;
    return <a href={`#schema-${name}`}>{name}</a>;
  }
  if (schema.type === 'array') {
    return (
      <>
        list of <Kind schema={schema.items as Schema} />
      </>
    );
  }
  if (Array.isArray(schema.enum)) return <>{schema.enum.join(' | ')}</>;
  if (schema.const !== undefined) return <>{JSON.stringify(schema.const)}</>;
  const kinds = Array.isArray(schema.type) ? schema.type.join(' or ') : String(schema.type);
  return <>{typeof schema.format === 'string' ? `${kinds} (${schema.format})` : kinds}</>;
}
