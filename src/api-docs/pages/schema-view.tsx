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
  schema.type === 'array' && (schema.items as Schema | undefined)?.properties !== undefined;

/** Also of a schema that an operator wrote: any member may be missing, and any schema `true` or `false`. */
function Kind({ schema }: { schema: Schema | boolean | undefined }): VNode {
  if (typeof schema !== 'object') return <>{schema === false ? 'nothing' : 'anything'}</>;
  if (typeof schema.$ref === 'string') {
    const path = schema.$ref.split('/');
    return <a href={`#schema-${path[3]}`}>{path.at(-1)}</a>;
  }
  if (schema.type === 'array') {
    return (
      <>
        list of <Kind schema={schema.items as Schema | undefined} />
      </>
    );
  }
  if (Array.isArray(schema.enum)) return <>{schema.enum.map(valueText).join(' | ')}</>;
  if (schema.const !== undefined) return <>{JSON.stringify(schema.const)}</>;
  if (schema.type === undefined) return <>anything</>;
  const kinds = Array.isArray(schema.type) ? schema.type.join(' or ') : String(schema.type);
  return <>{typeof schema.format === 'string' ? `${kinds} (${schema.format})` : kinds}</>;
}

const valueText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
