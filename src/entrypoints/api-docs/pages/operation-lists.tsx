import type { VNode } from 'preact';
import { Table } from '#platform/web/tables/table.js';
import type { OpenApiDocument } from '../openapi.js';
import { operationAnchor, webhookAnchor } from '../reference-addresses.js';
import { SIGNED } from '../webhooks.js';

interface Listed {
  /** Of the interactive reference. */
  anchor: string;
  name: string;
  summary: string;
}

/** The operations of each tag, and the webhooks by type, each a link into the interactive reference. */
export const OperationLists = ({ of: { tags, paths, webhooks } }: { of: OpenApiDocument }): VNode => (
  <>
    {tags.map(({ name, description }) => (
      <section>
        <h2>{name}</h2>
        <p>{description}</p>
        <Table
          caption={name}
          columns={[
            { head: name === WEBHOOKS ? 'Type' : 'Operation', cell: link },
            { head: 'What it does', cell: ({ summary }) => summary },
          ]}
          rows={name === WEBHOOKS ? typesIn(webhooks) : operationsOf(name, paths)}
        />
      </section>
    ))}
  </>
);

const WEBHOOKS = 'Webhooks';

// Without a script a link leads to itself.
const link = ({ anchor, name }: Listed): VNode => (
  <a id={anchor.slice(1)} href={anchor}>
    <code>{name}</code>
  </a>
);

const operationsOf = (tag: string, paths: OpenApiDocument['paths']): Listed[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { tags }]) => tags[0] === tag)
      .map(([method, { summary }]) => ({
        anchor: operationAnchor(tag, method, path),
        name: `${method.toUpperCase()} ${path}`,
        summary,
      })),
  );

const typesIn = (webhooks: OpenApiDocument['webhooks']): Listed[] =>
  Object.entries(webhooks).map(([type, { post }]) => ({
    anchor: webhookAnchor(type),
    name: type,
    summary: post?.description?.replace(SIGNED, '').replaceAll('`', '') ?? '',
  }));
