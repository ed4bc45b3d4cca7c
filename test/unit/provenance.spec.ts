import path from 'node:path';
import { pathToFileURL } from 'node:url';

const URI = /^(https:|urn:)/;
const SHA_OF_A = 'ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb';
const SHA_OF_B = '3e23e8160039594a33894f6564e1b1348bbd7a0088d42c4acb73eeaed59c009d';

it('The provenance of a release names its artefacts, the commit, the lock file and who built it', async () => {
  const script = pathToFileURL(path.resolve('scripts/provenance.mjs')).href;
  const { provenanceOf } = (await import(script)) as { provenanceOf: (release: object) => unknown };
  const release = {
    name: 'a-service',
    version: '1.2.3',
    artefacts: { 'a-service-1.2.3.tgz': 'a' },
    lockFile: 'b',
    commit: 'c'.repeat(40),
    isChanged: false,
  };
  const statement = (builder?: string) => ({
    _type: 'https://in-toto.io/Statement/v1',
    subject: [{ name: 'a-service-1.2.3.tgz', digest: { sha256: SHA_OF_A } }],
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: expect.stringMatching(URI),
        externalParameters: { version: '1.2.3' },
        internalParameters: { isChanged: false },
        resolvedDependencies: [
          { name: 'source', digest: { gitCommit: 'c'.repeat(40) } },
          { name: 'package-lock.json', digest: { sha256: SHA_OF_B } },
        ],
      },
      runDetails: {
        builder: { id: builder ?? expect.stringMatching(URI), version: { node: process.version } },
      },
    },
  });
  expect(provenanceOf(release)).toEqual(statement());
  const builder = 'https://ci.example/builder';
  expect(provenanceOf({ ...release, builder })).toEqual(statement(builder));
});
