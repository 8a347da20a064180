import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { test } from 'node:test';

const ROOT = new URL('../../', import.meta.url);
const DOCUMENTS = { P: 'PROTOCOL.md', H: 'HTTP.md' };

/** Every line of prose with "must"; code blocks are skipped. */
async function mustsOf(document: string): Promise<string[]> {
  const text = await readFile(new URL(document, ROOT), 'utf8');
  const prose = text.replaceAll(/^```.*?^```/gms, '');
  return prose.split('\n').filter((line) => /\bmust\b/i.test(line.replaceAll(/`[^`]*`/g, '')));
}

/** The titles of all tests in the repository. */
async function testTitles(): Promise<Set<string>> {
  const titles = new Set<string>();
  for (const folder of ['protocol', 'src', 'e2e'])
    for (const entry of await readdir(new URL(`${folder}/`, ROOT), { recursive: true })) {
      if (!/\.(?:test|contract)\.tsx?$/.test(entry)) continue;
      const code = await readFile(new URL(`${folder}/${entry}`, ROOT), 'utf8');
      for (const [, title] of code.matchAll(/\btest\(\s*'((?:[^'\\\n]|\\.)+)'/g))
        titles.add((title ?? '').replaceAll("\\'", "'"));
    }
  return titles;
}

for (const [letter, document] of Object.entries(DOCUMENTS)) {
  test(`every sentence of ${document} with "must" is numbered, in order`, async () => {
    const musts = await mustsOf(document);
    const numbers = musts.map((line) => /^- \*\*([A-Z]\d+)\*\* [^.].*\.$/.exec(line)?.[1] ?? line);
    assert.deepEqual(
      numbers,
      musts.map((_, i) => `${letter}${i + 1}`),
    );
  });

  test(`every numbered sentence of ${document} is the title of a test`, async () => {
    const titles = await testTitles();
    const sentences = (await mustsOf(document)).map((line) => line.replace(/^- \*\*[A-Z]\d+\*\* (.*)\.$/, '$1'));
    const missing = sentences.filter((sentence) => !titles.has(sentence));
    assert.deepEqual(missing, [], `${missing.length} of ${sentences.length} are the title of no test`);
  });
}
