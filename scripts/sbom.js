// The software bill of materials of the package: a list of what is bundled in it, for programs that look for vulnerable versions.
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { mergePackages } from './licenses.js';

const SBOM = 'sbom.cdx.json';
const MANIFEST = new URL('../package.json', import.meta.url);

/** Writes the packages of one part of the build into its folder, because parts are not always built together. */
export async function keepPackages(folder, part, packages) {
  const rows = packages.map(({ name, version, license }) => ({ name, version, license }));
  await writeFile(listOf(folder, part), JSON.stringify(rows));
}

const listOf = (folder, part) => path.join(folder, `.${part}.packages.json`);

/** Writes the document for all parts of `dist`. */
export async function writeSbom(dist, parts) {
  const lists = await Promise.all(parts.map((part) => readFile(listOf(dist, part), 'utf8')));
  const packages = mergePackages(lists.flatMap((list) => JSON.parse(list)));
  const sbom = toSbom(JSON.parse(await readFile(MANIFEST, 'utf8')), packages);
  await writeFile(path.join(dist, SBOM), `${JSON.stringify(sbom, null, 2)}\n`);
}

/** A CycloneDX 1.6 document of `subject` and the packages in it, each `{ name, version, license }`. It has no time and no random id: the same packages give the same document. */
export function toSbom(subject, packages) {
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: { type: 'application', ...toComponent(subject) } },
    components: packages.map((one) => ({ type: 'library', ...toComponent(one) })),
  };
}

function toComponent({ name, version, license }) {
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
  const [, group, ownName] = /^(?:(@[^/]+)\/)?(.*)$/.exec(name);
  return { 'bom-ref': purl, ...(group && { group }), name: ownName, version, licenses: [toLicense(license)], purl };
}

/** `MIT`, or an expression such as `(MPL-2.0 OR Apache-2.0)`. */
const toLicense = (license) => (license.includes(' ') ? { expression: license } : { license: { id: license } });
