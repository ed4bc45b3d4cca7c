import { createHash } from 'node:crypto';

/** SHA-256, in hexadecimal. */
export const digestOf = (content) => createHash('sha256').update(content).digest('hex');

/**
 * Where the artefacts of a release come from, as an in-toto statement (https://slsa.dev/spec/v1.0/provenance), to be signed by whoever
 * publishes them. `isChanged`: the files differ from those of the commit, so that nobody can make the artefacts from it.
 */
export const provenanceOf = ({ name, version, artefacts, lockFile, commit, isChanged, builder }) => ({
  _type: 'https://in-toto.io/Statement/v1',
  subject: Object.entries(artefacts).map(([file, content]) => ({
    name: file,
    digest: { sha256: digestOf(content) },
  })),
  predicateType: 'https://slsa.dev/provenance/v1',
  predicate: {
    buildDefinition: {
      buildType: `urn:${name}:npm-run-release:1`,
      externalParameters: { version },
      internalParameters: { isChanged },
      resolvedDependencies: [
        { name: 'source', digest: { gitCommit: commit } },
        { name: 'package-lock.json', digest: { sha256: digestOf(lockFile) } },
      ],
    },
    runDetails: {
      builder: { id: builder ?? `urn:${name}:unknown-builder`, version: { node: process.version } },
    },
  },
});
