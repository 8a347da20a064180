// The packages whose code is in a bundle, and their licences.
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';

const LICENSE_FILE = /^(licen[cs]e|copying|notice|copyright)([-.].*)?$/i;

/** For packages with code of others, whose licence lies elsewhere in the package. */
const INNER = { '@jsquash/webp': ['codec/LICENSE.codec.md'] };

/** For packages whose licence is a text without a name. */
const UNNAMED = { khroma: 'MIT' };

/** For packages that name their licence without its text. */
const STANDARD = { 'Apache-2.0': new URL('../LICENSE', import.meta.url) };

/**
 * The packages of a list of bundled files, in order: `{ name, version, license, texts }`, of which `texts` are the licence's. Throws if a
 * package has no licence, or no text of it.
 */
export async function readPackages(bundledFiles) {
  const folders = new Set(bundledFiles.flatMap((file) => packageFolderOf(file) ?? []));
  return mergePackages(await Promise.all([...folders].map(readPackage)));
}

/** Each package once, in order: it may be installed in several folders, and be in several bundles. */
export function mergePackages(packages) {
  const entries = new Map(packages.map((one) => [`${one.name} ${one.version}`, one]));
  return [...entries].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one);
}

/** The licence texts of these packages. */
export const toLicenseText = (packages) => `${HEAD}\n${packages.map(toEntry).join('\n')}`;

const HEAD = `Third-party software in Headgate's bundles, with its licences.
`;
const RULE = '-'.repeat(80);

/** `/x/node_modules/@scope/name` for a file in that package; undefined for our own files. */
function packageFolderOf(file) {
  return /^.*node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(file.replaceAll('\\', '/'))?.[0];
}

async function readPackage(folder) {
  const manifest = JSON.parse(await readFile(path.join(folder, 'package.json'), 'utf8'));
  const { name, version, author, license = UNNAMED[name] } = manifest;
  if (typeof license !== 'string') throw new Error(`${name} ${version} names no licence`);
  const files = (await readdir(folder)).filter((file) => LICENSE_FILE.test(file)).sort();
  const found = [...files, ...(INNER[name] ?? [])].map((file) => path.join(folder, file));
  const holder = typeof author === 'string' ? author.replace(/ *<.*/, '') : author?.name;
  if (found.length === 0 && license === 'MIT' && holder) return { name, version, license, texts: [mitOf(holder)] };
  const sources = found.length > 0 ? found : [STANDARD[license]];
  if (sources[0] === undefined) throw new Error(`${name} ${version} (${license}) has no licence text`);
  const texts = await Promise.all(sources.map((source) => readFile(source, 'utf8')));
  return { name, version, license, texts };
}

/** Its text is always the same, except for whose it is. */
const mitOf = (author) => `MIT License

Copyright (c) ${author}

Permission is hereby granted, free of charge, to any person obtaining a copy
of this software and associated documentation files (the "Software"), to deal
in the Software without restriction, including without limitation the rights
to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all
copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
SOFTWARE.`;

const toEntry = ({ name, version, license, texts }) =>
  `${RULE}\n${name} ${version} (${license})\n\n${texts.map((text) => text.trim()).join('\n\n')}\n`;
