/**
 * The package.json of a released program, from that of the sources: it starts the program and runs the operator's tool. What builds and
 * tests is left out: `npm ci` would end with an error for want of scripts/prepare.mjs.
 */
export function programPackageOf(manifest) {
  const { start, operator } = manifest.scripts;
  const program = { ...manifest, scripts: { start, operator } };
  delete program.workspaces;
  return program;
}
