import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { z } from 'zod';

const ROOT = path.resolve(import.meta.dirname, '..');
const read = (file: string): unknown => JSON.parse(readFileSync(path.join(ROOT, file), 'utf8'));

const Installed = z.looseObject({
  name: z.string().optional(),
  version: z.string().optional(),
  resolved: z.string().optional(),
  integrity: z.string().optional(),
  link: z.boolean().optional(),
  inBundle: z.boolean().optional(),
  dev: z.boolean().optional(),
  hasInstallScript: z.boolean().optional(),
});
const LockFile = z.looseObject({ packages: z.record(z.string(), Installed) });
const Manifest = z.looseObject({
  dependencies: z.record(z.string(), z.string()),
  allowScripts: z.record(z.string(), z.boolean()),
});
/** `fixed` has the first version without the fault for each major version that was mended. */
const Advisory = z.strictObject({
  package: z.string(),
  id: z.string().regex(/^GHSA(-[0-9a-z]{4}){3}$/),
  fixed: z.array(z.string().regex(/^\d+\.\d+\.\d+$/)).min(1),
  what: z.string(),
});
type Advisory = z.infer<typeof Advisory>;

interface Package extends z.infer<typeof Installed> {
  name: string;
  version: string;
}

const manifest = Manifest.parse(read('package.json'));
const advisories = z.array(Advisory).parse(read('scripts/advisories.json'));
const packages = packagesIn(read('package-lock.json'));

/** All packages of a lock file, except the project itself. An alias has the name of the package behind it. */
function packagesIn(lock: unknown): Package[] {
  return Object.entries(LockFile.parse(lock).packages)
    .filter(([folder]) => folder !== '')
    .map(([folder, one]) => ({
      ...one,
      name: one.name ?? folder.slice(folder.lastIndexOf('node_modules/') + 'node_modules/'.length),
      version: one.version ?? '',
    }));
}

/** Packages that do not come from a registry, or without a digest. Lock files that were written with some registries name no address. */
function strangersIn(all: readonly Package[]): string[] {
  return all.filter((one) => !isFromRegistry(one) || !isPinned(one)).map(({ name, version }) => `${name} ${version}`);
}

/** Git, local folders and archives elsewhere are no registry. */
const isFromRegistry = ({ name, version, resolved, link }: Package): boolean =>
  link !== true &&
  (resolved === undefined ||
    resolved === `https://registry.npmjs.org/${name}/-/${name.replace(/.*\//, '')}-${version}.tgz`);

/** The digest of a package that is inside another one is the other's. */
const isPinned = ({ integrity, inBundle }: Package): boolean =>
  inBundle === true || /^sha512-[\w+/]{86}==$/.test(integrity ?? '');

test('every package of the lock file comes from the registry, with its digest', () => {
  assert.ok(packages.length > 100);
  assert.deepEqual(strangersIn(packages), []);
});

test('a package from elsewhere, or without a strong digest, is found', () => {
  const integrity = `sha512-${'A'.repeat(86)}==`;
  const lock = {
    packages: {
      '': { name: 'own', version: '1.0.0' },
      'node_modules/plain': { version: '1.0.0', integrity },
      'node_modules/a/node_modules/@s/b': {
        ...{ version: '2.0.0', integrity, resolved: 'https://registry.npmjs.org/@s/b/-/b-2.0.0.tgz' },
      },
      'node_modules/alias': { name: 'real', version: '1.0.0', integrity },
      'node_modules/git': { version: '1.0.0', integrity, resolved: 'git+ssh://git@host.example/x.git#abc' },
      'node_modules/file': { version: '1.0.0', integrity, resolved: 'file:../x.tgz' },
      'node_modules/link': { version: '1.0.0', integrity, link: true },
      'node_modules/http': { version: '1.0.0', integrity, resolved: 'https://host.example/http/-/http-1.0.0.tgz' },
      'node_modules/other': { version: '1.0.0', integrity, resolved: 'https://registry.npmjs.org/x/-/x-1.0.0.tgz' },
      'node_modules/none': { version: '1.0.0' },
      'node_modules/weak': { version: '1.0.0', integrity: 'sha1-AAAAAAAAAAAAAAAAAAAAAAAAAAA=' },
    },
  };
  const found = ['git', 'file', 'link', 'http', 'other', 'none', 'weak'].map((name) => `${name} 1.0.0`);
  assert.deepEqual(strangersIn(packagesIn(lock)), found);
});

/** The packages with install scripts, whether they may run (`allowScripts` of package.json), and why. */
const SCRIPTS: Record<string, { isAllowed: boolean; why: string }> = {
  node: { isAllowed: true, why: 'puts the program for this platform in place' },
  esbuild: { isAllowed: true, why: 'puts the program for this platform in place, and checks that it runs' },
  '@scarf/scarf': { isAllowed: false, why: 'reports installations to its makers' },
};

test('only packages that were looked at have install scripts', () => {
  const withScripts = packages.filter((one) => one.hasInstallScript === true).map(({ name }) => name);
  assert.deepEqual(new Set(withScripts), new Set(Object.keys(SCRIPTS)));
  const allowed = Object.entries(SCRIPTS).map(([name, { isAllowed }]) => [name, isAllowed]);
  assert.deepEqual(manifest.allowScripts, Object.fromEntries(allowed));
});

test('npm installs one package together with Headgate, which has no dependencies', () => {
  assert.deepEqual(Object.keys(manifest.dependencies), ['zod']);
  const installed = packages.filter((one) => one.dev !== true).map(({ name }) => name);
  assert.deepEqual(installed, ['zod']);
});

/** Packages with a known vulnerability, each with the advisory. */
function vulnerableIn(all: readonly Package[], known: readonly Advisory[]): string[] {
  return all.flatMap(({ name, version }) =>
    known
      .filter((advisory) => advisory.package === name && !isFixed(version, advisory.fixed))
      .map(({ id, fixed, what }) => `${name} ${version}: ${what} (${id}). Fixed in ${fixed.join(', ')}`),
  );
}

/** At least the fixed version of the same major version; without one, at least the newest fixed version. */
function isFixed(version: string, fixed: readonly string[]): boolean {
  const sameMajor = fixed.filter((each) => Number.parseInt(each, 10) === Number.parseInt(version, 10));
  const newest = (sameMajor.length > 0 ? sameMajor : fixed).toSorted(compareVersions).at(-1) ?? '';
  return compareVersions(version, newest) >= 0;
}

/** A prerelease (`1.0.0-beta.1`) comes before its version. */
function compareVersions(a: string, b: string): number {
  const [left, right] = [toNumbers(a), toNumbers(b)];
  const at = left.findIndex((part, index) => part !== right[index]);
  return at === -1 ? 0 : (left[at] ?? 0) - (right[at] ?? 0);
}

function toNumbers(version: string): number[] {
  const [release = '', prerelease] = version.split(/-(.*)/);
  return [...release.split('.').map(Number), prerelease === undefined ? 1 : 0];
}

test('no package of the lock file has a known vulnerability', () => {
  assert.deepEqual(vulnerableIn(packages, advisories), []);
});

test('every advisory is of a package that is still used, and is listed once', () => {
  const names = new Set(packages.map(({ name }) => name));
  const stale = advisories.filter((advisory) => !names.has(advisory.package));
  assert.deepEqual(stale, []);
  assert.equal(new Set(advisories.map(({ id }) => id)).size, advisories.length);
});

test('a version below the fixed one of its major version is vulnerable', () => {
  const known = [{ package: 'x', id: 'GHSA-aaaa-bbbb-cccc', fixed: ['1.9.0', '3.10.0'], what: 'it fails' }];
  const at = (version: string) => ({ name: 'x', version });
  const of = (...versions: string[]) => vulnerableIn(versions.map(at), known);
  assert.deepEqual(of('1.9.0', '1.10.0', '3.10.0', '3.11.2', '4.0.0'), []);
  const vulnerable = ['0.1.0', '1.8.9', '1.9.0-beta.1', '2.9.0', '3.9.9', '3.10.0-rc.1'];
  assert.deepEqual(
    of(...vulnerable),
    vulnerable.map((version) => `x ${version}: it fails (GHSA-aaaa-bbbb-cccc). Fixed in 1.9.0, 3.10.0`),
  );
});
