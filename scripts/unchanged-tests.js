// Which test files need not run again before a commit: all their tests passed, and nothing that they use has changed since.
// What a file uses is what it imports, directly or not, by relative paths in its text. Everything else that is neither a test nor code
// below src/ or protocol/ (settings, lock file, scripts, data of tests) counts for all files. Tests that read the repository itself
// always run.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';

/** `import … from './x.ts'`, `export … from`, `import('./x.ts')` and `new URL('./x.ts', import.meta.url)`. */
const USES = /(?:\bfrom|\bimport|\bnew URL)\s*\(?\s*['"](\.{1,2}\/[^'"\n]+|[\w-]+\.ts)['"]/g;
const CODE = /^(src|protocol)\/.*\.tsx?$|\.test\.ts$/;
/** Only tests that always run read these. */
const DOCUMENT = /\.md$|^(docs|decisions|e2e|bench|protocol\/fixtures)\//;
/** Signs of tests that look at files of the repository: lists of files, its root, what is built of it, and documents. */
const READS_REPOSITORY =
  /\bglobSync\b|\bbuild\.js\b|\bROOT\b|\bdist\/|process\.cwd\(\)|import\.meta\.dirname|\.\.\/[^'"`]*\.md\b/;
const ADDRESS = /new URL\(\s*([^,)]+),\s*import\.meta\.url/g;
/** One file of code, or data of tests. */
const KNOWN_ADDRESS = /^'[^']*\.tsx?'$|fixtures\//;
/** They judge the project. */
const OF_PROJECT = /^src\/[^/]+$|^protocol\/[^/]+$/;

/**
 * `known` is what `passed-tests.json` says: for each file its key when it last passed, and its number of tests. `listFiles` returns
 * all files of the repository, as paths from `root`.
 */
export function unchangedTestsIn({ root, cache, listFiles }) {
  const known = read(cache);
  const around = createHash('sha256').update(process.version);
  for (const file of listFiles().sort())
    if (!CODE.test(file) && !DOCUMENT.test(file)) around.update(`${file}\0`).update(digestOf(path.join(root, file)));
  const surroundings = around.digest('hex');
  const keyOf = keysBelow(root);
  const keyOfTest = (file) => `${surroundings} ${keyOf(path.join(root, file))}`;
  /** The key is taken in any case: as the files are before the tests run. */
  const isUnchanged = (file) => known[file]?.key === keyOfTest(file) && !readsProject(root, file);
  return {
    /** Divides test files into those to run and those that need not run, and counts the tests of the latter. */
    divide(files) {
      const unchanged = files.filter(isUnchanged);
      const changed = files.filter((file) => !unchanged.includes(file));
      return { changed, tests: unchanged.reduce((sum, file) => sum + known[file].tests, 0) };
    },
    /** Remembers files whose tests have all passed, with their numbers of tests. */
    keep(passed) {
      const entries = Object.entries(passed).map(([file, tests]) => [file, { key: keyOfTest(file), tests }]);
      mkdirSync(path.dirname(cache), { recursive: true });
      writeFileSync(cache, JSON.stringify({ ...read(cache), ...Object.fromEntries(entries) }));
    },
  };
}

function readsProject(root, file) {
  if (OF_PROJECT.test(file)) return true;
  const text = readFileSync(path.join(root, file), 'utf8');
  return READS_REPOSITORY.test(text) || [...text.matchAll(ADDRESS)].some(([, address]) => !KNOWN_ADDRESS.test(address));
}

/** The digest of a file and of everything that it uses, as it was when it was asked for first. */
function keysBelow(root) {
  const keys = new Map();
  const keyOf = (file) => {
    const found = keys.get(file);
    if (found !== undefined) return found;
    keys.set(file, file); // in a circle
    const text = readFileSync(file, 'utf8');
    const used = [...text.matchAll(USES)]
      .map(([, name]) => path.resolve(path.dirname(file), name))
      .filter((each) => each.startsWith(root) && /\.[a-z]+$/.test(each) && existsSync(each));
    const key = createHash('sha256').update(text);
    for (const each of new Set(used)) key.update(keyOf(each));
    keys.set(file, key.digest('hex'));
    return keys.get(file);
  };
  return keyOf;
}

const digestOf = (file) => createHash('sha256').update(readFileSync(file)).digest();

function read(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return {}; // missing, or being written by another process
  }
}
