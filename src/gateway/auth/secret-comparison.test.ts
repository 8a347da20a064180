import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

const ROOT = new URL('../../../', import.meta.url);
/** Files that receive credentials. Others look them up by digest, which leaks no timing. */
const FILES = globSync(['src/gateway/{auth,nodes,connections}/*.ts', 'src/home/*.ts', 'src/http/*.ts'], {
  cwd: ROOT,
}).filter((file) => !file.endsWith('.test.ts'));

const SECRET = String.raw`[\w.]*(?:token|digest|hash|secret|jwt|code|candidate)\w*(?:\([^)]*\))?`;
const COMPARED = new RegExp(String.raw`${SECRET}\s*[!=]==?|[!=]==?\s*${SECRET}`, 'gi');
/** Ids, lengths, and the presence of a secret are not secret. */
const HARMLESS = /\w(?:_id|Id|\.length)\b|[!=]== (?:undefined|null|'|\d)|hasCode|\.code\b|opcode/;

const linesWith = (pattern: RegExp) =>
  FILES.flatMap((file) =>
    readFileSync(new URL(file, ROOT), 'utf8')
      .split('\n')
      .flatMap((line) => (line.match(pattern) ? [{ file, line: line.trim() }] : [])),
  );

test('secrets are compared in constant time only', () => {
  const compared = linesWith(COMPARED).filter(({ line }) => !HARMLESS.test(line));
  assert.deepEqual(compared, []);
  const inConstantTime = linesWith(/timingSafeEqual\(/).map(({ file }) => file);
  assert.deepEqual(inConstantTime.sort(), ['src/gateway/auth/token-matcher.ts', 'src/gateway/nodes/paired-nodes.ts']);
});
